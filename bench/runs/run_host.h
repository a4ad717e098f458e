#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "bench/host/clock.h"
#include "bench/host/interrupt.h"
#include "bench/host/phase_watch.h"
#include "bench/host/progress.h"
#include "bench/host/system_files.h"
#include "bench/plan/device.h"
#include "bench/plan/precision.h"

namespace bench {

/// Where a run writes.
struct RunStreams {
  std::ostream& out;
  std::ostream& err;
  Terminal err_terminal = {};
};

/// What all runs of a process share. Used by one thread.
class RunHost {
 public:
  RunHost(const RunStreams& run_streams, std::vector<std::string> arguments,
          SystemFiles system_files = SystemFiles());
  ~RunHost();
  RunHost(const RunHost&) = delete;
  RunHost& operator=(const RunHost&) = delete;

  const RunStreams& streams;
  const std::vector<std::string> command_line;
  /// Those this process may use, as it was before any device took its own.
  const std::vector<int> processors;
  const SteadyClock clock;
  const SystemFiles files;
  InterruptGuard interrupt;
  PhaseWatch phases;

  /// The devices of these settings and of all others that differ in the batch, one per tower, made
  /// at the first call; --use_fp16 is settled for all of them then. Throws as make_devices and
  /// choose_precision do.
  std::span<Device> devices(RunSettings& settings);
  /// The first one, which this thread uses.
  Device& device(RunSettings& settings) { return devices(settings).front(); }
  /// Those of the devices; they were made.
  TowerThreads& tower_threads() { return *tower_threads_; }

  /// Whether the user or a standard output that cannot be written any more ends what runs.
  [[nodiscard]] bool end_asked() const { return interrupt.requested() || !streams.out.good(); }
  /// "ended by SIGINT", or what became of standard output; the user's wish comes first.
  [[nodiscard]] std::string end_reason() const;
  /// Says where the run ended and returns the exit status; throws WriteError where it was not the
  /// user who ended it.
  int end(const RunEnded& ended);

 private:
  std::optional<TowerThreads> tower_threads_;
  std::vector<Device> devices_;
  Precision precision_;
};

/// Where a run's own time and memory begin.
struct RunBegin {
  /// From here its set-up counts.
  std::chrono::nanoseconds at{};
  /// The process's peak memory is the run's.
  bool peak_is_own = true;
};
/// Of a process that does nothing but this run: its launch.
RunBegin begin_at_launch(const RunHost& host);
/// Of a run that comes after others: now. Lets the process's peak memory begin anew.
RunBegin begin_now(const RunHost& host);

}  // namespace bench
