#include "bench/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "models/base/errors.h"

namespace bench {
namespace {

// A signal handler reaches nothing but globals; this one belongs to the one living guard.
std::atomic<int> noted_signal{0};
std::atomic<bool> guarded{false};
static_assert(std::atomic<int>::is_always_lock_free, "a handler must not take a lock");

void note(int signal) {
  int none = 0;
  if (!noted_signal.compare_exchange_strong(none, signal)) _exit(128 + signal);
}

void install(int signal, struct sigaction& old) {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, &old) != 0) {
    throw DeviceError(cat("sigaction failed for signal ", signal, ": ", std::strerror(errno)));
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  check(!guarded.exchange(true), "a second InterruptGuard");
  noted_signal = 0;
  install(SIGINT, old_interrupt_);
  install(SIGTERM, old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  (void)sigaction(SIGINT, &old_interrupt_, nullptr);
  (void)sigaction(SIGTERM, &old_terminate_, nullptr);
  guarded = false;
}

int InterruptGuard::signal() const { return noted_signal.load(std::memory_order_relaxed); }

std::string_view InterruptGuard::signal_name() const {
  switch (signal()) {
    case 0:
      return "";
    case SIGINT:
      return "SIGINT";
    default:
      return "SIGTERM";
  }
}

}  // namespace bench
