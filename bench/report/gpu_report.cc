#include "bench/report/gpu_report.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"
#include "results/environment/decimal.h"
#include "results/environment/in_one_line.h"

namespace bench {
namespace {

/// Joins the known facts about a card in one line.
class Line {
 public:
  void add(const std::string& part) {
    if (!text_.empty()) {
      text_ += ", ";
    }
    text_ += part;
  }
  /// Appends the value if it is known.
  template <class Value, class Describe>
  void add(const Captured<Value>& value, Describe describe) {
    if (value.known()) {
      add(describe(value.value()));
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using results::Spread;

std::string clock_text(const Spread& mhz) {
  return fmt::format("SM clock {:.0f} MHz ({:.0f} to {:.0f})", mhz.mean, mhz.min, mhz.max);
}

/// The reasons for reduced clocks, except idleness.
std::string events_text(const results::ClockEvents& events) {
  std::string text;
  for (const results::ClockEvent& event : results::kClockEvents) {
    const double share = events.share(event.bit);
    if (share > 0 && event.bit != results::clock_event::kIdle) {
      constexpr double kPerCent = 100;
      text +=
          fmt::format("{}{} in {:.0f} % of the samples",
                      text.empty() ? "clocks reduced by " : " and ", event.name, kPerCent * share);
    }
  }
  return text.empty() ? "clocks not reduced" : text;
}

/// The energy per image, token or example, of all cards together.
std::string energy_text(const results::Record& record, const results::GpuWatched& watched) {
  static constexpr std::string_view kBegin = "joules_per_";
  const auto metric =
      std::find_if(record.metrics.begin(), record.metrics.end(),
                   [](const results::Metric& row) { return row.name.starts_with(kBegin); });
  check(metric != record.metrics.end(), "a record without its energy");
  const std::string unit = metric->name.substr(kBegin.size());
  if (!metric->value.known()) {
    return fmt::format("J/{} unavailable: {}", unit, metric->value.why());
  }
  constexpr double kLeastJoules = 0.001;
  const double joules = std::get<double>(metric->value.value());
  const std::string amount = joules < kLeastJoules ? fmt::format("{:.4f} mJ", 1000 * joules)
                                                   : fmt::format("{:.4f} J", joules);
  return fmt::format("{}/{} over {:.1f} s (board sensor, not wall)", amount, unit,
                     std::chrono::duration<double>(watched.window).count());
}

}  // namespace

void print_gpus(const results::Record& record, std::ostream& out) {
  const bool several = record.gpus.size() > 1;
  std::string energy;
  for (std::size_t i = 0; i < record.gpus.size(); ++i) {
    const results::Gpu& gpu = record.gpus[i];
    if (!gpu.watched.known()) {
      continue;
    }
    const results::GpuWatched& watched = gpu.watched.value();
    energy = energy_text(record, watched);
    Line line;
    line.add(watched.sm_mhz, clock_text);
    line.add(gpu.counted_sm_mhz, [](double mhz) {
      return fmt::format("{:.0f} MHz counted by a kernel after the steps", mhz);
    });
    line.add(watched.clock_events, events_text);
    line.add(watched.watts, [](const Spread& x) { return fmt::format("{:.0f} W", x.mean); });
    line.add(watched.celsius,
             [](const Spread& x) { return fmt::format("at most {:.0f} degrees Celsius", x.max); });
    if (!several) {
      line.add(energy);
    }
    if (!line.text().empty()) {
      out << stderr_line::gpu << (several ? fmt::format(" {}: ", i) : ": ") << line.text() << "\n";
    }
  }
  if (several && !energy.empty()) {
    out << stderr_line::gpu << "s together: " << energy << "\n";
  }
}

void print_verdict(const results::Record& record, std::ostream& out) {
  if (record.gpus.empty()) {
    return;
  }
  const results::Quality& quality = record.quality;
  if (!quality.verdict.known()) {
    out << stderr_line::verdict << "unavailable: " << quality.verdict.why() << "\n";
    return;
  }
  if (quality.verdict.value() == results::Verdict::kInvalid) {
    out << stderr_line::verdict << "INVALID: " << in_one_line(quality.reasons) << "\n";
  } else if (quality.unread.empty()) {
    out << stderr_line::verdict << "VALID\n";
  } else {
    out << stderr_line::verdict
        << "VALID, but these values could not be read: " << in_one_line(quality.unread) << "\n";
  }
}

}  // namespace bench
