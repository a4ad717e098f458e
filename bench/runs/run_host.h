#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "bench/plan/device.h"
#include "bench/plan/precision.h"
#include "bench/runs/run_world.h"
#include "bench/terminal/interrupt.h"
#include "bench/terminal/phase_watch.h"
#include "bench/terminal/progress.h"
#include "results/environment/clock.h"
#include "results/environment/system_files.h"

namespace bench {

/// The streams to which a run writes.
struct RunStreams {
  std::ostream& out;
  std::ostream& err;
  Terminal err_terminal = {};
};

/// What all runs of a process share. Used by one thread.
class RunHost {
 public:
  RunHost(const RunStreams& run_streams, std::vector<std::string> arguments,
          SystemFiles system_files = SystemFiles(), RunWorld run_world = alone());
  ~RunHost();
  RunHost(const RunHost&) = delete;
  RunHost& operator=(const RunHost&) = delete;

  const RunStreams& streams;
  const std::vector<std::string> command_line;
  /// The processors that this process could use before any device bound its threads.
  const std::vector<int> processors;
  const SteadyClock clock;
  const SystemFiles files;
  InterruptGuard interrupt;
  PhaseWatch phases;
  /// The processes of the run.
  RunWorld world;

  /// The devices of these settings, one per tower, made at the first call. They serve all settings
  /// that differ only in the batch. The first call also resolves --use_fp16 for all of them. Throws
  /// like make_devices and choose_precision.
  std::span<Device> devices(RunSettings& settings);
  /// The first device, which this thread uses.
  Device& device(RunSettings& settings) { return devices(settings).front(); }
  /// The threads of the devices, which must have been made.
  TowerThreads& tower_threads() { return *tower_threads_; }

  /// Shows the progress of drawing synthetic input for the model.
  [[nodiscard]] Watch input_watch(const Model& model);

  /// True if the user, or a stdout that is no longer writable, ends the run.
  [[nodiscard]] bool end_asked() const { return interrupt.requested() || !streams.out.good(); }
  /// "ended by SIGINT", or what happened to stdout; a signal takes precedence.
  [[nodiscard]] std::string end_reason() const;
  /// Prints where the run ended and returns the exit status; throws WriteError if the user did not
  /// end it.
  int end(const RunEnded& ended);

 private:
  std::optional<TowerThreads> tower_threads_;
  std::vector<Device> devices_;
  Precision precision_;
};

/// The begin of a run's time and memory use.
struct RunBegin {
  /// Set-up time counts from here.
  std::chrono::nanoseconds at{};
  /// The process's peak memory is that of this run.
  bool peak_is_own = true;
};
/// The launch of the process, if it does only this run.
RunBegin begin_at_launch(const RunHost& host);
/// The current time, for a run that follows others. Resets the process's peak memory.
RunBegin begin_now(const RunHost& host);

}  // namespace bench
