#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Starts an MPI launcher with the command line `words` in its own process group, with an empty
/// stdin, and waits for it. If this process dies, the launcher receives SIGTERM.
///
/// Forwards the first SIGINT, SIGTERM or SIGHUP; as SIGUSR1 (for SIGINT) or SIGUSR2, which
/// ProcessGuard understands, if `by_user_signals` and a rank of this host runs. A second signal
/// kills the launcher and ends this process, as InterruptGuard says.
///
/// Kills a launcher that does not exit within `patience` after a rank of this host has failed,
/// because another host may no longer answer. Also kills one that does not exit after a signal
/// before the ranks run: MPICH's launcher may wait for ever then. In both cases, kills what the
/// launcher has started on this host.
///
/// Returns 128 + the signal after a signal; 1 if the launcher succeeds or is killed after a
/// failure; otherwise the launcher's exit status, or 1 if it cannot be executed. Throws DeviceError
/// if fork fails. Call it before the process has other threads.
int run_launcher(std::vector<std::string> words, bool by_user_signals,
                 std::chrono::nanoseconds patience = std::chrono::seconds(5));

/// What a rank's guard reports to run_launcher().
enum class RankEvent : std::uint8_t {
  runs,    ///< All ranks have started.
  failed,  ///< The rank has failed.
};

/// Reports to run_launcher(), if it started this process and runs on this host. Does not wait.
void report_to_launcher(RankEvent event, const std::string& host);

}  // namespace bench
