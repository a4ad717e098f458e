#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <vector>

#include "results/environment/busy_processes.h"
#include "results/environment/clock.h"
#include "results/environment/cpu_watch.h"
#include "results/environment/rapl.h"
#include "results/environment/system_files.h"
#include "results/environment/timed_watch.h"
#include "results/record/record.h"

namespace bench {

/// Watches the machine while steps are timed: energy, clock and temperature of the processors, and
/// throttling by the control group. Starting with its construction, it also watches which other
/// programs compute. Includes a GPU's watch.
class RunWatch final : public TimedWatch {
 public:
  /// `files`, `clock` and `gpu`, which may be null, must outlive this. `own` are the ids of the
  /// run's other processes on this host, which do not disturb it.
  RunWatch(const SystemFiles& files, const Clock& clock, std::vector<int> processors,
           TimedWatch* gpu, std::set<std::int64_t> own = {});

  void begin() override;
  void end() override;

  /// Call it after end(). If the run timed no step, the record says so.
  void add_to(results::Record& record) const;

 private:
  const SystemFiles& files_;
  const Clock& clock_;
  const std::vector<int> processors_;
  TimedWatch* gpu_;
  const std::set<std::int64_t> own_;
  Captured<ProcessTimes> processes_before_;
  std::chrono::nanoseconds made_;
  Captured<RaplReading> rapl_before_ = Unknown{"no step was timed"};
  results::Throttling throttling_before_{};
  std::optional<CpuWatch> cpu_{};
  bool ended_ = false;
  results::Energy energy_{};
  results::Throttling throttling_{};
  Captured<std::vector<results::BusyProcess>> busy_ = Unknown{"no step was timed"};
};

}  // namespace bench
