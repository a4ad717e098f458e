#pragma once

#include <signal.h>

#include <string_view>

namespace bench {

/// While it lives, the first SIGINT or SIGTERM is only noted, so that a run can end after the step
/// in hand; a second one of either kind ends the process at once with status 128 + signal, writing
/// nothing. Restores the former handlers in the end. At most one at a time (InternalError).
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that came, or 0. Any thread may ask; does not wait.
  int signal() const;
  /// 128 + the signal: what a program ends with that it ended.
  int exit_status() const { return 128 + signal(); }
  bool requested() const { return signal() != 0; }
  /// "SIGINT", "SIGTERM", or "" when none came.
  std::string_view signal_name() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace bench
