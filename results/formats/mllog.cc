#include "models/base/errors.h"
#include "results/formats/json_text.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"

/// MLPerf's log lines, as mlcommons' mllog writes them: `:::MLLOG`, then one JSON object with these
/// keys in this order. Only a benchmark's lines, because a run has no quality target.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;

class MllogLines {
 public:
  void add(double time_seconds, const char* type, const char* key, Ordered value,
           const Ordered& metadata = Ordered::object()) {
    Ordered place = {{"file", "bench"}, {"lineno", 0}};
    place.update(metadata);
    const Ordered line = {
        {"namespace", ""},           {"time_ms", static_cast<std::int64_t>(time_seconds * 1e3)},
        {"event_type", type},        {"key", key},
        {"value", std::move(value)}, {"metadata", std::move(place)}};
    text_ += fmt::format(":::MLLOG {}\n", python_json(line));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string mllog_of(const StoredRun& run) {
  constexpr const char* kPoint = "POINT_IN_TIME";
  const nlohmann::json& record = run.record;
  const double start = static_cast<double>(run.start_ms) / 1e3;
  const double end = static_cast<double>(end_ms(run)) / 1e3;
  const std::vector<double> steps = step_seconds(record);
  const std::vector<double> ends = step_ends(run);
  const auto batch = integer_field(record, "workload.global_batch").value_or(0);
  MllogLines lines;
  lines.add(start, kPoint, "submission_benchmark", text_field(record, "workload.model"));
  lines.add(start, kPoint, "submission_platform", run.machine);
  lines.add(start, kPoint, "global_batch_size", batch);
  if (const auto seed = integer_field(record, "workload.seed"))
    lines.add(start, kPoint, "seed", *seed);
  if (const std::string optimizer = text_field(record, "workload.optimizer"); !optimizer.empty()) {
    lines.add(start, kPoint, "opt_name", optimizer);
  }
  lines.add(start, "INTERVAL_START", "init_start", nullptr);
  const double first = steps.empty() ? end : ends.front() - steps.front();
  lines.add(first, "INTERVAL_END", "init_stop", nullptr);
  lines.add(first, "INTERVAL_START", "run_start", nullptr);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] <= 0) continue;
    lines.add(ends[i], kPoint, "tracked_stats",
              Ordered{{"throughput", static_cast<double>(batch) / steps[i]}},
              Ordered{{"step", i + 1}});
  }
  lines.add(end, "INTERVAL_END", "run_stop", nullptr,
            Ordered{{"status", run.status == "ok" ? "success" : "aborted"}});
  return lines.text();
}

Outputs write_mllog(std::span<const StoredRun> runs) {
  Outputs outputs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    outputs.push_back({.name = fmt::format("result_{}.txt", i), .contents = mllog_of(runs[i])});
  }
  return outputs;
}

}  // namespace

Format mllog_format() {
  return {.name = "mllog", .what = "MLPerf's log lines, one file per run", .write = write_mllog};
}

}  // namespace bench::results
