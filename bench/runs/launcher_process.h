#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace bench {

struct LauncherLimits {
  /// How long the launcher may take to exit after a failure or a second signal.
  std::chrono::nanoseconds exit = std::chrono::seconds(5);
  /// The same signal within this time counts as the first one: timeout(1) sends it twice.
  std::chrono::nanoseconds once_within = std::chrono::milliseconds(200);
};

/// Starts an MPI launcher with the command line `words` in its own process group, with an empty
/// stdin, and waits for it. Forwards SIGINT, SIGTERM and SIGHUP; if `by_user_signals`, the first
/// one as SIGUSR1 (for SIGINT) or SIGUSR2, which ProcessGuard understands. Kills a launcher that
/// does not exit in time, because it waits for a host that no longer answers. If this process dies,
/// the launcher receives SIGTERM.
///
/// Returns 128 + the signal after a signal; 1 if the launcher succeeds or is killed after a
/// failure; otherwise the launcher's exit status. Throws DeviceError if the launcher cannot be
/// started. Call it before the process has other threads.
int run_launcher(std::vector<std::string> words, bool by_user_signals,
                 const LauncherLimits& limits = {});

/// Reports to run_launcher(), if it started this process and runs on this host, that a rank has
/// failed. Does not wait.
void report_failure_to_launcher(const std::string& host);

}  // namespace bench
