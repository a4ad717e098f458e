#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/host/cgroup.h"
#include "bench/host/system_files.h"
#include "results/captured.h"

namespace bench {

/// Counters of /proc/stat since boot, over all processors, in clock ticks.
struct ProcessorTimes {
  std::int64_t busy_ticks = 0;   ///< User, nice, system and interrupts.
  std::int64_t idle_ticks = 0;   ///< Idle and waiting for disks.
  std::int64_t steal_ticks = 0;  ///< Taken by the hypervisor for other machines.
  std::int64_t own_ticks = 0;    ///< Of the busy ones, those of this process.
  int online = 0;                ///< Processors.
  int procs_running = 0;         ///< Tasks that run or could run at this moment, ours included.
};

/// /proc/stat and /proc/self/stat, or why they cannot be used.
Captured<ProcessorTimes> read_processor_times(const SystemFiles& files);

/// Share of all processor time between the two that the hypervisor took, 0 to 1; 0 if no tick
/// passed.
double steal_share(const ProcessorTimes& before, const ProcessorTimes& after);

/// What can spoil a measurement, at one moment.
struct EnvironmentSnapshot {
  Captured<ProcessorTimes> times{};
  /// The clock governor of each processor that has one, by processor.
  std::map<int, std::string> governors{};
  std::optional<CpuQuota> quota{};
};

/// Reads a snapshot of the processors the run will use; does not wait.
EnvironmentSnapshot read_environment(const SystemFiles& files, std::span<const int> processors);

/// What a run will use.
struct ProcessorUse {
  int processors = 0;
  /// Of the CPU, that compute at once, each with --num_intra_threads of its own; 0: no device whose
  /// threads that flag sets.
  int devices = 1;
};

/// One sentence per thing that will make the numbers low or unsteady, each saying what to do about
/// it that can be done. Judges by what happened between two snapshots, a tenth of a second or more
/// apart, at both of which this process ran one thread.
std::vector<std::string> environment_warnings(const EnvironmentSnapshot& before,
                                              const EnvironmentSnapshot& after,
                                              const ProcessorUse& use);

}  // namespace bench
