#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace bench {

struct GuardSettings {
  /// This process's host, for messages.
  std::string host;
  /// A worker that does not beat for this time is stuck.
  std::chrono::nanoseconds silence = std::chrono::seconds(3);
  /// How long the guard outlives a killed worker, so that the launcher does not end the other ranks
  /// before they notice and report the loss.
  std::chrono::nanoseconds hold = std::chrono::milliseconds(4500);
  /// How long the worker may take to exit after its last beat. MPICH 4.0's MPI_Finalize can hang
  /// between hosts, with UCX over TCP.
  std::chrono::nanoseconds finish = std::chrono::seconds(10);
};

/// A worker's end of the pipe to its guard.
class Guard {
 public:
  /// Splits this process in two, and returns in the child, the worker. The parent, the guard, never
  /// returns: it forwards signals, kills a worker that is stopped or stuck, and exits with the
  /// worker's status. If the guard dies, so does the worker. MPI cannot do this: a stopped process
  /// makes no call, and a launcher waits for it.
  ///
  /// Call it before the process has other threads. Throws DeviceError.
  static std::unique_ptr<Guard> start(const GuardSettings& settings);

  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// From the first beat on, the guard expects another within `silence`. Kills a guard that has
  /// been stopped for that time, and with it this process. Does not wait.
  void beat();
  /// The last beat: the process will exit with this status. If it does not exit in time, the guard
  /// kills it, and exits with this status.
  void end(int status);

 private:
  Guard(int pipe, const GuardSettings& settings);
  void check_guard();

  const int pipe_;
  const std::chrono::nanoseconds silence_;
  /// Since when the guard has been stopped; 0: it runs.
  std::chrono::nanoseconds stopped_since_{};
};

}  // namespace bench
