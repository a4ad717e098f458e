#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "variable_mgmt/world/world.h"

namespace bench {

struct ProcessGuardSettings {
  std::string host;
  /// The worker's name in messages, such as "rank 2 (host b)".
  std::string name;
  /// A worker that sends no heartbeat for this time is stuck. Shorter than WorldSettings::silence:
  /// if the other ranks ended the run first, the launcher would end this guard before it reports.
  std::chrono::nanoseconds silence = std::chrono::seconds(2);
  /// How long the guard outlives a killed worker, unless the launcher ends it. Otherwise the
  /// launcher would end the other ranks before they notice and report the loss.
  std::chrono::nanoseconds hold = std::chrono::seconds(6);
  /// How long the worker may take to exit after its last heartbeat: MPI_Finalize may hang.
  std::chrono::nanoseconds finish = std::chrono::seconds(60);
};

/// A worker's end of the pipe to its guard.
class ProcessGuard final : public Heartbeat {
 public:
  /// Forks. Returns in the child, the worker. The parent, the guard, never returns. It forwards
  /// signals (SIGUSR1 as SIGINT, SIGUSR2 as SIGTERM), kills a worker that is stopped or stuck, and
  /// exits with the worker's status. If the guard dies, so does the worker. MPI cannot do this: a
  /// stopped process makes no call, and a launcher waits for it.
  ///
  /// Call it before the process has other threads. Throws DeviceError.
  static std::unique_ptr<ProcessGuard> start(const ProcessGuardSettings& settings);

  ~ProcessGuard() override;
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

  /// From the first heartbeat on, the guard expects another within `silence`. Kills a guard that
  /// has been stopped for that time, and with it this process. Does not wait.
  void beat() override;
  /// If the process does not exit in time, the guard kills it, and exits with this status.
  void end(int status) override;

 private:
  ProcessGuard(int pipe, const ProcessGuardSettings& settings);
  void check_guard();

  const int pipe_;
  const std::string name_;
  const std::chrono::nanoseconds silence_;
  /// Since when the guard has been stopped; 0: it runs.
  std::chrono::nanoseconds stopped_since_{};
};

}  // namespace bench
