#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/store/record_fields.h"
#include "results/store/stored_run.h"

namespace bench::results {

struct MadeRun {
  std::string model = "resnet50";
  int batch = 64;
  double rate = 100;
  std::string kernel = "6.1.0-28";
  std::string group{};
  std::int64_t params = 25;
  std::string layout = "auto";
  std::string git_rev = "1a2b3c";
};

/// A run with the members that comparisons look at.
inline StoredRun made_run(const MadeRun& made) {
  StoredRun run;
  run.record = {{"workload",
                 {{"model", made.model},
                  {"mode", "train"},
                  {"batch_per_device", made.batch},
                  {"layout", made.layout},
                  {"dtype", "f32"}}},
                {"source", {{"git_rev", made.git_rev}}},
                {"host", {{"kernel", made.kernel}, {"hostname", "node7"}}},
                {"quality", {{"warnings", nlohmann::json::array()}}}};
  run.status = "ok";
  run.git_rev = made.git_rev;
  run.workload = workload_text(run.record);
  run.workload_key = key_of(workload_fields(run.record));
  run.machine = "node7";
  run.machine_key = key_of(machine_fields(run.record));
  run.environment_key = key_of(environment_fields(run.record));
  run.record_id = fmt::format("{}{}-{:g}", made.model, made.batch, made.rate);
  run.group_id = made.group.empty() ? run.record_id : made.group;
  run.metrics["images_per_sec"] = {
      .value = made.rate, .unit = "images/s", .better = Better::kHigher};
  run.metrics["wall_time"] = {.value = 1000 / made.rate, .unit = "s", .better = Better::kLower};
  run.metrics["model_params"] = {
      .value = static_cast<double>(made.params), .unit = "1", .kind = Kind::kExact};
  return run;
}

/// Lets the run's record say that other programs used the machine.
inline void mark_disturbed(StoredRun& run) {
  run.record["load"]["busy_processes"] = {{{"name", "spinner"}, {"processors", 1.0}}};
}

/// `n` runs around `made.rate`, with a coefficient of variation.
inline std::vector<StoredRun> made_runs(std::size_t n, const MadeRun& made, double cv,
                                        std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<StoredRun> runs;
  for (std::size_t i = 0; i < n; ++i) {
    MadeRun one = made;
    one.rate = made.rate * std::exp(cv * static_cast<double>(random.normal()));
    runs.push_back(made_run(one));
  }
  return runs;
}

}  // namespace bench::results
