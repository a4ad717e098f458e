#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/loop/session.h"
#include "bench/plan/device.h"
#include "bench/plan/memory_check.h"
#include "results/environment/environment.h"
#include "results/environment/system_files.h"
#include "results/record/record.h"

namespace bench {

/// Makes a record with what is known before the run: machine, build, workload, flags. The settings
/// were resolved from `parsed`.
results::Record begin_record(const RunSettings& settings, const ParseResult& parsed,
                             const std::vector<std::string>& command_line,
                             const SystemFiles& files);

/// Adds the plan: devices, implementations, choices, parameters, planned memory.
void add_plan(results::Record& record, const RunSettings& settings, std::span<const Device> devices,
              const Executor& executor, const PlannedMemory& memory);

/// Adds the energy counters of the GPUs that computed to those of the processors.
void add_gpu_energy(results::Record& record);

/// The measurements of a run.
struct Measurements {
  const SessionResult& session;
  const PlannedMemory& memory;
  const InputStatistics& input;
  std::chrono::nanoseconds setup{};
  Captured<std::int64_t> peak_rss{};
  /// The counters of all processors when the run began.
  Captured<ProcessorTimes> times_before{};
};
void add_measurements(results::Record& record, const RunSettings& settings,
                      const Measurements& measured, const SystemFiles& files);

}  // namespace bench
