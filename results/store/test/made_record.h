#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "results/record/record.h"
#include "results/record/record_json.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// A record of a run on two threads, which tests may change before it is sealed.
inline Record made_record(const std::string& model = "resnet50", std::int64_t batch = 64,
                          double images_per_sec = 100) {
  Record record;
  record.run_uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  record.status = Status::kOk;
  record.time.start_utc =
      std::chrono::system_clock::time_point(std::chrono::milliseconds(1'767'225'600'123));
  record.workload.model = model;
  record.workload.mode = "train";
  record.workload.backend = "onednn";
  record.workload.data = "synthetic";
  record.workload.batch_per_device = batch;
  record.workload.devices = 1;
  record.workload.global_batch = batch;
  record.workload.dtype = "f32";
  record.workload.layout = "auto";
  record.workload.num_batches = 100;
  record.flags = {.workload = {{"weight_decay", 4e-5}},
                  .execution = {{"num_intra_threads", std::int64_t{2}}},
                  .output = {{"result_file", std::string("a.json")}}};
  record.source.git_rev = "16a685e0";
  record.source.dirty = false;
  record.host.hostname = "node7";
  record.host.kernel = "6.1.0-28";
  record.host.container = "none found";
  record.cpu.model = "AMD EPYC 9654";
  record.cpu.processors_used = std::vector<int>{0, 1};
  record.cpu.isa_used = "avx512";
  record.memory.available = 1 << 30;
  record.metrics = {{.name = "images_per_sec",
                     .value = images_per_sec,
                     .unit = "images/s",
                     .better = Better::kHigher},
                    {.name = "model_params",
                     .value = std::int64_t{25},
                     .unit = "1",
                     .better = Better::kNone,
                     .kind = Kind::kExact}};
  return record;
}

inline nlohmann::json json_of(const Record& record) {
  return nlohmann::json::parse(record_json(record));
}

/// `record`, changed by hand, with the id of its new content.
inline nlohmann::json sealed(nlohmann::json record) {
  record["record_id"] = content_id(record);
  return record;
}

}  // namespace bench::results
