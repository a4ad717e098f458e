#pragma once

#include <memory>
#include <optional>
#include <span>

#include "bench/flags/flags.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/settings.h"
#include "bench/plan/tensor_files.h"
#include "bench/quantize/quantization.h"
#include "bench/report/record_file.h"
#include "bench/runs/checkpointing.h"
#include "bench/runs/evaluator.h"
#include "bench/runs/event_log.h"
#include "bench/runs/run_host.h"
#include "models/base/atomic_file.h"
#include "pipeline/input.h"
#include "results/environment/environment.h"
#include "results/environment/gpu_sensors.h"
#include "results/record/record.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

struct RunRequest {
  const RunSettings& settings;
  /// The source of the settings, for the record.
  const ParseResult& parsed;
  results::BatchChoice choice = {};
  RunBegin begin = {};
};

/// A run whose record has begun; from here on the record reports how the run ends.
struct Begun {
  RunSettings settings;
  RunBegin begin;
  EnvironmentSnapshot before;
  RecordFile file;
  /// Set with --train_dir.
  std::unique_ptr<Checkpointing> checkpoints = {};
  /// Set once the run is planned.
  PlannedMemory memory = {};
};

/// The number of processors that this process may use, or that its quota of processor time feeds.
int processors_within_quota(const RunHost& host);

/// The settings with that number of threads that prepare images, if a quota makes it smaller and no
/// number was given.
RunSettings with_input_threads(RunSettings settings, const RunHost& host);

/// Throws UsageError if the record cannot be written.
Begun begin_run(const RunRequest& request, const RunHost& host);

/// Opens the checkpoint from which the run continues, if --train_dir is given. Waits for all
/// processes. Throws UsageError and DataError.
void open_checkpoints(Begun& begun, RunHost& host);

/// Everything that the steps use. The settings it was made from must outlive it.
struct Prepared {
  std::span<Device> devices;
  /// The sensors of each GPU that computes, in the order of the record; null if it cannot be
  /// watched.
  std::vector<std::unique_ptr<GpuSensors>> sensors;
  RunTensorFiles tensor_files;
  /// Set with --train_dir.
  std::unique_ptr<Checkpointing> checkpoints;
  /// Set with --summary_verbosity.
  std::unique_ptr<EventLog> events;
  /// Set with --eval_during_training_*.
  std::unique_ptr<Evaluator> evaluator;
  std::optional<AtomicFile> trace;
  /// Set for a run in int8.
  std::optional<Quantization> quantization;
  /// Destroyed after the towers, whose devices may still be reading its images.
  std::unique_ptr<InputSource> input;
  std::unique_ptr<Towers> towers;
  /// With several processes: RunTensorFiles::loaded_sum().
  std::string loaded_sum;
};

/// Makes everything that the steps need, and prints the lines before "Running warm up". Returns
/// nullopt if the run ends before its first step: by --dump or --dump_tensors, or because the
/// checkpoint in --train_dir completes it. Throws UsageError,
/// DataError, DeviceError, WriteError and RunEnded.
std::optional<Prepared> prepare(Begun& begun, RunHost& host);

}  // namespace bench
