#pragma once

#include <memory>
#include <optional>
#include <span>

#include "bench/after/record_file.h"
#include "bench/flags/flags.h"
#include "bench/host/environment.h"
#include "bench/host/gpu_sensors.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/quantization.h"
#include "bench/plan/settings.h"
#include "bench/plan/tensor_files.h"
#include "bench/runs/run_host.h"
#include "models/base/atomic_file.h"
#include "pipeline/input.h"
#include "results/record.h"
#include "variable_mgmt/towers.h"

namespace bench {

struct RunRequest {
  const RunSettings& settings;
  /// What they were resolved from, for the record.
  const ParseResult& parsed;
  results::BatchChoice choice = {};
  RunBegin begin = {};
};

/// A run from where its record will tell of it, whatever ends it.
struct Begun {
  RunSettings settings;
  RunBegin begin;
  EnvironmentSnapshot before;
  RecordFile file;
  /// Once it is planned.
  PlannedMemory memory = {};
};

/// Throws UsageError for a record that cannot be written.
Begun begin_run(const RunRequest& request, const RunHost& host);

/// What the steps work with. The settings it was made from must outlive it.
struct Prepared {
  std::span<Device> devices;
  /// Of each GPU that computes, as the record has them; null where it cannot be watched.
  std::vector<std::unique_ptr<GpuSensors>> sensors;
  RunTensorFiles tensor_files;
  std::optional<AtomicFile> trace;
  /// Of a run in int8.
  std::optional<Quantization> quantization;
  /// Goes after the towers, whose devices may still be reading its images.
  std::unique_ptr<InputSource> input;
  std::unique_ptr<Towers> towers;
};

/// Makes everything that the steps need, and prints the lines before "Running warm up"; none where
/// the run is over before its first step, with what --dump or --dump_tensors asked for. Throws
/// UsageError, DataError, DeviceError, WriteError and RunEnded.
std::optional<Prepared> prepare(Begun& begun, RunHost& host);

}  // namespace bench
