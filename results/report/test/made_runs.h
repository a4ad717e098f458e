#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// How a made run differs from the default.
struct MadeRun {
  std::string model = "lenet";
  std::string host = "node7";
  int threads = 2;
  int devices = 1;
  std::string strategy = "parameter_server";
  std::string optimizer = "sgd";
  std::string gpu{};  ///< GPU of each device; may be empty.
  double speed = 100;
  std::string unit = "images";  ///< With tokens, an example has 4.
  double joules = 0;            ///< Per unit; 0: unknown.
  std::string status = "ok";
  std::string mode = "train";
  std::string dtype = "f32";
  std::string backend = "onednn";
  bool disturbed = false;  ///< Other programs used the machine.
  nlohmann::json cost{};   ///< In the record; may be null.
};

/// A run with a small record of these values.
inline StoredRun made_run(const MadeRun& made, std::int64_t second = 0) {
  nlohmann::json record = {
      {"schema", "bench.record/2"},
      {"status", made.status},
      {"time", {{"start_utc", "2026-01-31T12:00:" + std::to_string(10 + second) + ".000Z"}}},
      {"workload",
       {{"model", made.model},
        {"mode", made.mode},
        {"dtype", made.dtype},
        {"data", "synthetic"},
        {"backend", made.backend},
        {"batch_per_device", 8},
        {"devices", made.devices},
        {"global_batch", 8 * made.devices},
        {"variable_update", made.strategy},
        {"optimizer", made.optimizer},
        {"flops_per_image", 2e9}}},
      {"flags",
       {{"given",
         {{"model", made.model},
          {"data_dir", "/secret/place"},
          {"result_file", "run." + std::to_string(second) + ".json"}}},
        {"output", {{"result_file", "run." + std::to_string(second) + ".json"}}}}},
      {"host", {{"hostname", made.host}, {"kernel", "6.1"}}},
      {"cpu",
       {{"model", "EPYC"},
        {"processors_used", std::vector<int>(static_cast<std::size_t>(made.threads), 0)}}},
      {"metrics",
       {{{"name", made.unit + "_per_sec"},
         {"value", made.speed},
         {"unit", made.unit + "/s"},
         {"better", "higher"}}}},
      {"quality",
       {{"warnings", {"other work keeps about 1.5 of 2 processors busy", "a </script> b"}}}}};
  if (made.disturbed) {
    record["load"]["busy_processes"] = {{{"name", "spinner"}, {"processors", 1.0}}};
  }
  if (!made.cost.is_null()) {
    record["cost"] = made.cost;
  }
  for (int i = 0; i < made.devices && !made.gpu.empty(); ++i) {
    record["gpu"].push_back({{"name", made.gpu}});
  }
  if (made.unit == "tokens") {
    const double tokens = 4 * 8 * made.devices;
    record["metrics"].push_back({{"name", "tokens_per_sec_steps"},
                                 {"value", made.speed},
                                 {"unit", "tokens/s"},
                                 {"better", "higher"}});
    record["metrics"].push_back({{"name", "step_time.mean"},
                                 {"value", tokens / made.speed},
                                 {"unit", "s"},
                                 {"better", "lower"}});
  }
  if (made.joules > 0) {
    record["metrics"].push_back(
        {{"name", "joules_per_" + made.unit.substr(0, made.unit.size() - 1)},
         {"value", made.joules},
         {"unit", "J"},
         {"better", "lower"}});
  }
  record["record_id"] = content_id(record);
  return stored_run(record, "made");
}

/// Repeats around `made.speed`: 1 % apart.
inline void add_repeats(std::vector<StoredRun>& runs, MadeRun made, int repeats = 6) {
  const double centre = made.speed;
  for (int i = 0; i < repeats; ++i) {
    made.speed = centre * (1 + 0.01 * (i - 2.5));
    runs.push_back(made_run(made, i));
  }
}

}  // namespace bench::results
