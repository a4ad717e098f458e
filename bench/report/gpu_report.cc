#include "bench/report/gpu_report.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "results/environment/decimal.h"
#include "results/environment/in_one_line.h"

namespace bench {
namespace {

/// Joins the known facts about a card in one line.
class Line {
 public:
  void add(const std::string& part) { text_ += cat(text_.empty() ? "" : ", ", part); }
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
  return cat("SM clock ", decimal(mhz.mean, 0), " MHz (", decimal(mhz.min, 0), " to ",
             decimal(mhz.max, 0), ")");
}

/// The reasons for reduced clocks, except idleness.
std::string events_text(const results::ClockEvents& events) {
  std::string text;
  for (const results::ClockEvent& event : results::kClockEvents) {
    const double share = events.share(event.bit);
    if (share > 0 && event.bit != results::clock_event::kIdle) {
      constexpr double kPerCent = 100;
      text += cat(text.empty() ? "held down by " : " and ", event.name, " in ",
                  decimal(kPerCent * share, 0), " % of the samples");
    }
  }
  return text.empty() ? "held down by nothing" : text;
}

/// The energy per image, of all cards together.
std::string energy_text(const results::Record& record, const results::GpuWatched& watched) {
  const auto metric =
      std::find_if(record.metrics.begin(), record.metrics.end(),
                   [](const results::Metric& row) { return row.name == "joules_per_image"; });
  check(metric != record.metrics.end(), "a record without joules_per_image");
  if (!metric->value.known()) {
    return cat("no J/image: ", metric->value.why());
  }
  return cat(decimal(std::get<double>(metric->value.value()), 4), " J/image over ",
             decimal(std::chrono::duration<double>(watched.window).count(), 1),
             " s (board sensor, not wall)");
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
      return cat("counted by a kernel behind the steps ", decimal(mhz, 0), " MHz");
    });
    line.add(watched.clock_events, events_text);
    line.add(watched.watts, [](const Spread& x) { return cat(decimal(x.mean, 0), " W"); });
    line.add(watched.celsius, [](const Spread& x) {
      return cat("at most ", decimal(x.max, 0), " degrees Celsius");
    });
    if (!several) {
      line.add(energy);
    }
    if (!line.text().empty()) {
      out << "GPU" << (several ? cat(" ", i) : "") << ": " << line.text() << "\n";
    }
  }
  if (several && !energy.empty()) {
    out << "GPUs together: " << energy << "\n";
  }
}

void print_verdict(const results::Record& record, std::ostream& out) {
  if (record.gpus.empty()) {
    return;
  }
  const results::Quality& quality = record.quality;
  if (!quality.verdict.known()) {
    out << "verdict: none: " << quality.verdict.why() << "\n";
    return;
  }
  if (quality.verdict.value() == results::Verdict::kInvalid) {
    out << "verdict: INVALID: " << in_one_line(quality.reasons) << "\n";
  } else if (quality.unread.empty()) {
    out << "verdict: VALID\n";
  } else {
    out << "verdict: VALID, as far as could be read; not read: " << in_one_line(quality.unread)
        << "\n";
  }
}

}  // namespace bench
