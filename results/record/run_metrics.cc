#include "results/record/run_metrics.h"

#include <numeric>
#include <optional>
#include <utility>

#include "results/record/record_table.h"
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
  return static_cast<double>(run.units_per_step) * static_cast<double>(run.steps.size()) /
         seconds(time);
}

/// A metric with the unit and the other properties of its row in metrics.inc.
Metric metric(std::string name, MetricValue value) {
  const MetricRow* const row = find_metric_row(name);
  check(row != nullptr, fmt::format("metrics.inc has no {}", name));
  return {.name = std::move(name),
          .value = std::move(value),
          .unit = std::string(row->unit),
          .better = row->better,
          .kind = row->kind,
          .scope = row->scope};
}

/// Adds the metrics of the steps by the device's clock.
void add_device_times(std::vector<Metric>& out, const RunMeasurements& run) {
  MetricValue median = Unknown{kNoStep};
  MetricValue mad = Unknown{kNoStep};
  if (!run.device_steps.known()) {
    median = mad = Unknown{run.device_steps.why()};
  } else if (!run.device_steps.value().empty()) {
    const StepTimeStatistics statistics = step_time_statistics(run.device_steps.value());
    median = statistics.median;
    mad = statistics.mad;
  }
  out.push_back(metric("device_time.median", std::move(median)));
  out.push_back(metric("device_time.mad", std::move(mad)));
}

/// Energy of the devices per unit of the steps.
Captured<double> joules_per_unit(const RunMeasurements& run) {
  if (!run.watts.known()) return Unknown{run.watts.why()};
  const Captured<double> speed = units_per_second(run);
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
  using S = StepTimeStatistics;
  const auto add = [&](const char* name, double S::*field) {
    out.push_back(metric(name, statistics ? Value((*statistics).*field) : Value(Unknown{kNoStep})));
  };
  const auto add_optional = [&](const char* name, std::optional<double> S::*field) {
    Value value = Unknown{kNoStep};
    if (statistics) {
      const std::optional<double> given = (*statistics).*field;
      value = given ? Value(*given) : Value(Unknown{"fewer than three steps, or all equal"});
    }
    out.push_back(metric(name, std::move(value)));
  };
  out.push_back(metric("step_time.n", static_cast<std::int64_t>(steps.size())));
  add("step_time.mean", &S::mean);
  add("step_time.median", &S::median);
  add("step_time.p5", &S::p5);
  add("step_time.p90", &S::p90);
  add("step_time.p95", &S::p95);
  add("step_time.p99", &S::p99);
  add("step_time.min", &S::min);
  add("step_time.max", &S::max);
  add("step_time.mad", &S::mad);
  add("step_time.cv", &S::cv);
  add_optional("step_time.acf1", &S::acf1);
  add_optional("step_time.n_eff", &S::n_eff);
}

}  // namespace

Captured<double> units_per_second(const RunMeasurements& run) { return rate(run, run.wall); }

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
  const auto add = [&out](std::string name, Value value) {
    out.push_back(metric(std::move(name), std::move(value)));
  };
  add(run.unit + "_per_sec", value_of(units_per_second(run)));
  add(run.unit + "_per_sec_steps", value_of(rate(run, sum(run.steps))));
  add("wall_time", value_of(Captured<std::chrono::nanoseconds>(run.wall)));
  add("setup_time", value_of(run.setup));
  add_step_times(out, run.steps);
  add_device_times(out, run);
  add("device_span_share", value_of(device_span_share(run)));
  add("input_wait_time", value_of(run.input_wait));
  add("input_wait_share", value_of(input_wait_share(run)));
  add("loss_first", value_of(run.loss_first));
  add("loss_last", value_of(run.loss_last));
  add("top1", value_of(run.top1));
  add("top5", value_of(run.top5));
  add("peak_rss", value_of(run.peak_rss_bytes));
  add("joules_per_" + run.unit.substr(0, run.unit.size() - 1), value_of(joules_per_unit(run)));
  // add_roof() replaces these if the machine was measured.
  add("roof_share", Unknown{kNoRoof});
  add("mfu", Unknown{kNoRoof});
  add("bandwidth_share", Unknown{kNoRoof});
  for (const PlannedRegion& region : run.planned) {
    add("planned_bytes." + region.name, Value(region.bytes));
  }
  return out;
}

}  // namespace bench::results
