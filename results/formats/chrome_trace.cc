#include <algorithm>
#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"

/// Chrome's trace event form, which Perfetto opens. Each run is a process, and each timed step is a
/// complete event (ph X) with its speed as a counter (ph C). Times are microseconds since the first
/// run began.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;

void add_run(const StoredRun& run, std::size_t process, std::int64_t origin_ms, Ordered& events) {
  const std::vector<double> steps = step_seconds(run.record);
  const std::vector<double> ends = step_ends(run);
  const double units = units_per_step(run).value_or(0);
  const std::string rate = speed_unit(run) + "/s";
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", process},
                    {"tid", 0},
                    {"args", {{"name", fmt::format("{}, {}", run.workload, run.record_id)}}}});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double start = (ends[i] - steps[i] - static_cast<double>(origin_ms) / 1e3) * 1e6;
    events.push_back({{"ph", "X"},
                      {"name", "step"},
                      {"cat", "step"},
                      {"ts", start},
                      {"dur", steps[i] * 1e6},
                      {"pid", process},
                      {"tid", 0},
                      {"args", {{"step", i + 1}}}});
    if (units <= 0 || steps[i] <= 0) continue;
    events.push_back({{"ph", "C"},
                      {"name", rate},
                      {"ts", start},
                      {"pid", process},
                      {"args", {{rate, units / steps[i]}}}});
  }
}

Outputs write_chrome_trace(std::span<const StoredRun> runs) {
  std::int64_t origin = runs.empty() ? 0 : runs.front().start_ms;
  for (const StoredRun& run : runs) origin = std::min(origin, run.start_ms);
  Ordered events = Ordered::array();
  for (std::size_t i = 0; i < runs.size(); ++i) add_run(runs[i], i + 1, origin, events);
  const Ordered root = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  return {{.name = "trace.json",
           .contents = root.dump(-1, ' ', false, Ordered::error_handler_t::replace) + "\n"}};
}

}  // namespace

Format chrome_trace_format() {
  return {.name = "trace",
          .what = "Chrome's trace of the steps, for Perfetto",
          .write = write_chrome_trace};
}

}  // namespace bench::results
