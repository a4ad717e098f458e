#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string_view>

namespace bench {

struct InterruptOptions {
  /// Receives the answer to the first signal; the write waits as long as its reader does.
  int notice_fd = STDERR_FILENO;
  /// The answer says when the program ends, and what a second signal loses.
  std::string_view ending =
      "the run ends after the current step, or during set-up after the current part";
  std::string_view lost = "a record";
  /// Written before the answer, to remove a progress line from a terminal.
  std::string_view before_notice = {};
  /// The same signal within this time counts as the first one: timeout(1) sends it twice.
  std::chrono::nanoseconds once_within = std::chrono::milliseconds(200);
};

/// Handles SIGINT, SIGTERM and SIGHUP during its lifetime.
///
/// The first signal is answered at once, by a line that says what will happen. It is recorded, so
/// that a run can end after the current step. A second SIGINT or SIGTERM ends the process at once
/// with status 128 + signal, without output. A second SIGHUP does nothing, since a shell sends one
/// after the terminal's. A signal that is ignored stays ignored. The destructor restores the former
/// handlers, unless ignore_further() was called. Throws InternalError if another guard exists.
class InterruptGuard {
 public:
  explicit InterruptGuard(const InterruptOptions& options = {});
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// If a second signal ends this process, it also ends the process group of this child; 0: of no
  /// child.
  void end_with(pid_t child);

  /// Ignores signals from now on, even after the guard, for a process that has finished its output
  /// and only has to exit. Earlier signals remain recorded.
  void ignore_further();

  /// The signal that came, or 0. Any thread may call it; does not wait.
  int signal() const;
  /// 128 + the signal: the exit status of a program that the signal ended.
  int exit_status() const { return 128 + signal(); }
  bool requested() const { return signal() != 0; }
  /// "SIGINT", "SIGTERM", "SIGHUP", or "" if no signal came.
  std::string_view signal_name() const;

 private:
  std::array<struct sigaction, 3> old_{};
  bool restores_ = true;
};

}  // namespace bench
