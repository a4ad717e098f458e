#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/environment/cgroup.h"
#include "results/environment/system_files.h"
#include "results/record/captured.h"
#include "results/record/record.h"

namespace bench {

/// Counters of /proc/stat since boot, over all processors, in clock ticks.
struct ProcessorTimes {
  std::int64_t busy_ticks = 0;   ///< User, nice, system and interrupts.
  std::int64_t idle_ticks = 0;   ///< Idle and waiting for disks.
  std::int64_t steal_ticks = 0;  ///< Taken by the hypervisor for other machines.
  std::int64_t own_ticks = 0;    ///< The part of busy_ticks from this process.
  int online = 0;                ///< The number of processors.
  int procs_running = 0;         ///< Runnable tasks at this moment, including ours.
};

/// Reads /proc/stat and /proc/self/stat; unknown if they are unusable.
Captured<ProcessorTimes> read_processor_times(const SystemFiles& files);

/// The processors that other programs used on average between two readings.
double used_by_others(const ProcessorTimes& before, const ProcessorTimes& after);

/// The share of processor time that the hypervisor took between two readings, 0 to 1; 0 if no tick
/// passed.
double steal_share(const ProcessorTimes& before, const ProcessorTimes& after);

/// Conditions at one moment that can distort a measurement.
struct EnvironmentSnapshot {
  Captured<ProcessorTimes> times{};
  /// The frequency governor of each processor that has one, by processor.
  std::map<int, std::string> governors{};
  std::optional<CpuQuota> quota{};
};

/// Reads a snapshot of the processors that the run will use; does not wait.
EnvironmentSnapshot read_environment(const SystemFiles& files, std::span<const int> processors);

/// The processors that a run will use.
struct ProcessorUse {
  int processors = 0;
  /// The number of CPU devices that compute concurrently, each with its --num_intra_threads. It is
  /// 0 if that flag sets no device's threads.
  int devices = 1;
  /// Other processes of the run use this host too. Their work looks like that of other programs.
  bool other_ranks = false;
};

/// Returns one sentence for each condition that will make the results low or unsteady, with a
/// remedy if there is one. Compares two snapshots at least a tenth of a second apart. This process
/// must run one thread at both times.
std::vector<std::string> environment_warnings(const EnvironmentSnapshot& before,
                                              const EnvironmentSnapshot& after,
                                              const ProcessorUse& use);

/// Records what other machines and programs took from the run since `before`.
void add_losses(results::Record& record, const Captured<ProcessorTimes>& before,
                const SystemFiles& files);

}  // namespace bench
