#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "results/record/record_json.h"
#include "results/record/run_metrics.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// The run of a record, as the store reads it.
inline StoredRun run_of(const nlohmann::json& record) { return stored_run(record, "test"); }

/// A record of three timed steps of 8 images, 0.5, 0.25 and 0.25 s, that ended at
/// 2026-01-31T12:00:03Z; the loss sinks from 2 to 1.
inline Record example_record() {
  using namespace std::chrono_literals;
  Record record;
  record.status = Status::kOk;
  record.time.start_utc = std::chrono::sys_days(std::chrono::January / 31 / 2026) + 12h;
  record.time.end_utc = record.time.start_utc + 3s;
  record.workload.model = "lenet";
  record.workload.printed_model = "lenet5";
  record.workload.mode = "train";
  record.workload.backend = "onednn";
  record.workload.data = "synthetic";
  record.workload.batch_per_device = 8;
  record.workload.devices = 1;
  record.workload.global_batch = 8;
  record.workload.dtype = "f32";
  record.workload.layout = "NHWC";
  record.workload.optimizer = "sgd";
  record.workload.num_batches = 3;
  record.workload.num_epochs = 24.0 / 1281167;
  record.workload.seed = 7;
  record.flags.output["display_every"] = std::int64_t{3};
  record.tensorflow_env = {{"TF_XLA_FLAGS", "--a"}, {"TF_CPP_MIN_LOG_LEVEL", "1"}};
  record.dataset.name = "imagenet";
  record.source.git_rev = std::string("abc123");
  record.source.bench_version = "0.1.0";
  record.host.hostname = std::string("node7");
  record.cpu.model = std::string("EPYC <9654>");
  record.cpu.sockets = 1;
  record.cpu.cores = 2;
  record.cpu.threads = 4;
  record.cpu.max_mhz = 3700.0;
  record.memory.total = std::int64_t{8} << 30U;
  record.memory.available = std::int64_t{4} << 30U;
  record.series.step_ns = {500ms, 250ms, 250ms};
  record.series.loss = {2.0, 1.5, 1.0};
  record.metrics = run_metrics({.units_per_step = 8,
                                .steps = record.series.step_ns,
                                .wall = 1s,
                                .input_wait = 0ns,
                                .setup = 1s,
                                .peak_rss_bytes = 1 << 20U});
  return record;
}

/// The same steps of 8 sequences with 35 tokens each.
inline StoredRun example_run_of_tokens() {
  using namespace std::chrono_literals;
  Record record = example_record();
  record.workload.model = "lstm_lm";
  record.metrics = run_metrics({.unit = "tokens",
                                .units_per_step = std::int64_t{8} * 35,
                                .steps = record.series.step_ns,
                                .wall = 1s});
  return run_of(nlohmann::json::parse(record_json(record)));
}

inline StoredRun example_run() {
  return run_of(nlohmann::json::parse(record_json(example_record())));
}

}  // namespace bench::results
