#include "results/record/run_metrics.h"

#include <numeric>
#include <optional>
#include <utility>

#include "results/record/statistics.h"

namespace bench::results {
namespace {

using Value = MetricValue;

constexpr const char* kNoStep = "no timed step was completed";

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::chrono::nanoseconds sum(std::span<const std::chrono::nanoseconds> steps) {
  return std::accumulate(steps.begin(), steps.end(), std::chrono::nanoseconds{});
}

Captured<double> rate(const RunMeasurements& run, std::chrono::nanoseconds time) {
  if (run.steps.empty()) return Unknown{kNoStep};
  if (time.count() <= 0) return Unknown{"the clock did not advance"};
  return static_cast<double>(run.images_per_step) * static_cast<double>(run.steps.size()) /
         seconds(time);
}

/// Metrics of the steps by the device's clock.
std::vector<Metric> device_times(const RunMeasurements& run) {
  MetricValue median = Unknown{kNoStep};
  MetricValue mad = Unknown{kNoStep};
  if (!run.device_steps.known()) {
    median = mad = Unknown{run.device_steps.why()};
  } else if (!run.device_steps.value().empty()) {
    const StepTimeStatistics statistics = step_time_statistics(run.device_steps.value());
    median = statistics.median;
    mad = statistics.mad;
  }
  const auto metric = [](const char* name, MetricValue value) -> Metric {
    return {.name = name,
            .value = std::move(value),
            .unit = "s",
            .better = Better::kLower,
            .kind = Kind::kNoisy,
            .scope = Scope::kStep};
  };
  return {metric("device_time.median", std::move(median)),
          metric("device_time.mad", std::move(mad))};
}

/// Energy of the GPUs per image of the steps.
Captured<double> joules_per_image(const RunMeasurements& run) {
  if (!run.watts.known()) return Unknown{run.watts.why()};
  const Captured<double> speed = images_per_second(run);
  if (!speed.known()) return Unknown{speed.why()};
  return run.watts.value() / speed.value();
}

template <class T>
Value value_of(const Captured<T>& captured) {
  if (!captured.known()) return Unknown{captured.why()};
  return std::variant<std::int64_t, double>(captured.value());
}

Value value_of(const Captured<std::chrono::nanoseconds>& captured) {
  if (!captured.known()) return Unknown{captured.why()};
  return std::variant<std::int64_t, double>(seconds(captured.value()));
}

void add_step_times(std::vector<Metric>& out, std::span<const std::chrono::nanoseconds> steps) {
  std::optional<StepTimeStatistics> statistics;
  if (!steps.empty()) statistics = step_time_statistics(steps);
  const auto add = [&](const char* name, const char* unit, Better better,
                       std::optional<double> StepTimeStatistics::*optional_field,
                       double StepTimeStatistics::*field) {
    Value value = Unknown{kNoStep};
    if (statistics && field != nullptr) value = Value((*statistics).*field);
    if (statistics && optional_field != nullptr) {
      const std::optional<double> given = (*statistics).*optional_field;
      value = given ? Value(*given) : Value(Unknown{"fewer than three steps, or all equal"});
    }
    out.push_back({.name = std::string("step_time.") + name,
                   .value = value,
                   .unit = unit,
                   .better = better,
                   .kind = Kind::kNoisy,
                   .scope = Scope::kStep});
  };
  out.push_back({.name = "step_time.n",
                 .value = static_cast<std::int64_t>(steps.size()),
                 .unit = "steps",
                 .better = Better::kNone,
                 .kind = Kind::kNoisy,
                 .scope = Scope::kStep});
  using S = StepTimeStatistics;
  add("mean", "s", Better::kLower, nullptr, &S::mean);
  add("median", "s", Better::kLower, nullptr, &S::median);
  add("p5", "s", Better::kLower, nullptr, &S::p5);
  add("p95", "s", Better::kLower, nullptr, &S::p95);
  add("p99", "s", Better::kLower, nullptr, &S::p99);
  add("min", "s", Better::kLower, nullptr, &S::min);
  add("max", "s", Better::kLower, nullptr, &S::max);
  add("mad", "s", Better::kLower, nullptr, &S::mad);
  add("cv", "1", Better::kLower, nullptr, &S::cv);
  add("acf1", "1", Better::kNone, &S::acf1, nullptr);
  add("n_eff", "steps", Better::kNone, &S::n_eff, nullptr);
}

}  // namespace

Captured<double> images_per_second(const RunMeasurements& run) { return rate(run, run.wall); }

Captured<double> input_wait_share(const RunMeasurements& run) {
  if (!run.input_wait.known()) return Unknown{run.input_wait.why()};
  if (run.wall.count() <= 0) return Unknown{kNoStep};
  return seconds(run.input_wait.value()) / seconds(run.wall);
}

Captured<double> device_span_share(const RunMeasurements& run) {
  if (!run.device_steps.known()) return Unknown{run.device_steps.why()};
  const std::chrono::nanoseconds steps = sum(run.steps);
  if (steps.count() <= 0) return Unknown{kNoStep};
  return seconds(sum(run.device_steps.value())) / seconds(steps);
}

std::vector<Metric> run_metrics(const RunMeasurements& run) {
  std::vector<Metric> out;
  const auto add = [&out](std::string name, Value value, const char* unit, Better better,
                          Kind kind = Kind::kNoisy) {
    out.push_back({.name = std::move(name),
                   .value = std::move(value),
                   .unit = unit,
                   .better = better,
                   .kind = kind,
                   .scope = Scope::kRun});
  };
  add("images_per_sec", value_of(images_per_second(run)), "images/s", Better::kHigher);
  add("images_per_sec_steps", value_of(rate(run, sum(run.steps))), "images/s", Better::kHigher);
  add("wall_time", value_of(Captured<std::chrono::nanoseconds>(run.wall)), "s", Better::kNone);
  add("setup_time", value_of(run.setup), "s", Better::kLower);
  add_step_times(out, run.steps);
  for (Metric& metric : device_times(run)) out.push_back(std::move(metric));
  add("device_span_share", value_of(device_span_share(run)), "1", Better::kHigher);
  add("input_wait_time", value_of(run.input_wait), "s", Better::kLower);
  add("input_wait_share", value_of(input_wait_share(run)), "1", Better::kLower);
  add("loss_first", value_of(run.loss_first), "1", Better::kNone);
  add("loss_last", value_of(run.loss_last), "1", Better::kNone);
  add("top1", value_of(run.top1), "1", Better::kHigher);
  add("top5", value_of(run.top5), "1", Better::kHigher);
  add("peak_rss", value_of(run.peak_rss_bytes), "bytes", Better::kLower);
  add("joules_per_image", value_of(joules_per_image(run)), "J", Better::kLower);
  // add_roof() replaces these if the machine was measured.
  add("roof_share", Unknown{kNoRoof}, "1", Better::kHigher);
  add("mfu", Unknown{kNoRoof}, "1", Better::kHigher);
  add("bandwidth_share", Unknown{kNoRoof}, "1", Better::kHigher);
  for (const PlannedRegion& region : run.planned) {
    add("planned_bytes." + region.name, Value(region.bytes), "bytes", Better::kLower, Kind::kExact);
  }
  return out;
}

}  // namespace bench::results
