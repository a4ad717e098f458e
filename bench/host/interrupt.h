#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string_view>

namespace bench {

struct InterruptOptions {
  /// Where the first signal is answered; the write waits as long as its reader does.
  int notice_fd = STDERR_FILENO;
  /// Goes before the answer: what takes a progress line away from a terminal.
  std::string_view before_notice = {};
  /// The same signal again within this time is the first one still: timeout(1) sends it twice.
  std::chrono::nanoseconds once_within = std::chrono::milliseconds(200);
};

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is answered at once, by a line that says
/// what will happen, and noted, so that a run can end after the step in hand. A second SIGINT or
/// SIGTERM ends the process at once with status 128 + signal, writing nothing; a second SIGHUP,
/// which a shell sends after the terminal's own, does nothing. A signal that is ignored stays so.
/// Restores the former handlers in the end, but for ignore_further(). At most one at a time
/// (InternalError).
class InterruptGuard {
 public:
  explicit InterruptGuard(const InterruptOptions& options = {});
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Where a second signal ends this process, it ends the process group of this child too; 0: of
  /// none.
  void end_with(pid_t child);

  /// From now on the signals do nothing, also after the guard: for a process that has left what it
  /// was to leave and only ends. Those that came before are still known.
  void ignore_further();

  /// The signal that came, or 0. Any thread may ask; does not wait.
  int signal() const;
  /// 128 + the signal: what a program ends with that it ended.
  int exit_status() const { return 128 + signal(); }
  bool requested() const { return signal() != 0; }
  /// "SIGINT", "SIGTERM", "SIGHUP", or "" when none came.
  std::string_view signal_name() const;

 private:
  std::array<struct sigaction, 3> old_{};
  bool restores_ = true;
};

}  // namespace bench
