#include "bench/terminal/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>

#include "models/base/errors.h"

namespace bench {
namespace {

struct Guarded {
  int signal;
  std::string_view name;
  /// True if the second such signal ends the process.
  bool insists;
};
constexpr std::array<Guarded, 3> kGuarded = {
    {{SIGINT, "SIGINT", true}, {SIGTERM, "SIGTERM", true}, {SIGHUP, "SIGHUP", false}}};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A text in memory that a signal handler can read.
struct Notice {
  std::array<char, 256> text{};
  std::size_t size = 0;
};

// A signal handler can use only globals; these belong to the one existing guard. The notices are
// written before the handlers are installed.
std::atomic<bool> guarded{false};
std::atomic<int> noted_signal{0};
std::atomic<std::int64_t> noted_at{kNever};
std::atomic<std::int64_t> once_within{0};
std::atomic<int> notice_fd{STDERR_FILENO};
std::atomic<pid_t> companion{0};
std::array<Notice, kGuarded.size()> notices;
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a handler must not take a lock");

std::int64_t monotonic_now() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  return now.tv_sec * kNanosecondsPerSecond + now.tv_nsec;
}

std::size_t index_of(int signal) {
  std::size_t index = 0;
  while (kGuarded[index].signal != signal) {
    ++index;
  }
  return index;
}

/// The handler: calls only what POSIX allows there (clock_gettime, write, kill, _exit) and takes no
/// lock.
void note(int signal) {
  const int saved_errno = errno;
  const std::size_t index = index_of(signal);
  const std::int64_t now = monotonic_now();
  int first = 0;
  if (noted_signal.compare_exchange_strong(first, signal)) {
    noted_at = now;
    [[maybe_unused]] const ssize_t ignored =
        ::write(notice_fd, notices[index].text.data(), notices[index].size);
  } else if (kGuarded[index].insists && (signal != first || now - noted_at > once_within)) {
    if (companion > 0) {
      ::kill(-companion, SIGKILL);
    }
    _exit(128 + signal);
  }
  errno = saved_errno;
}

void compose(Notice& notice, const Guarded& guarded_signal, const InterruptOptions& options) {
  std::string text =
      fmt::format("{}{}: {}.", options.before_notice, guarded_signal.name, options.ending);
  if (guarded_signal.insists) {
    text += fmt::format(" Send it again to end at once, without {}.", options.lost);
  }
  text += "\n";
  notice.size = std::min(text.size(), notice.text.size());
  std::copy_n(text.begin(), notice.size, notice.text.begin());
}

void set_action(int signal, const struct sigaction* action, struct sigaction* old) {
  if (sigaction(signal, action, old) != 0) {
    throw DeviceError(
        fmt::format("sigaction failed for signal {}: {}", signal, std::strerror(errno)));
  }
}

}  // namespace

InterruptGuard::InterruptGuard(const InterruptOptions& options) {
  check(!guarded.exchange(true), "there is already an InterruptGuard");
  noted_signal = 0;
  noted_at = kNever;
  companion = 0;
  once_within = options.once_within.count();
  notice_fd = options.notice_fd;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kGuarded.size(); ++i) {
    compose(notices[i], kGuarded[i], options);
    set_action(kGuarded[i].signal, nullptr, &old_[i]);
    if (old_[i].sa_handler != SIG_IGN) {
      set_action(kGuarded[i].signal, &action, nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; restores_ && i < kGuarded.size(); ++i) {
    (void)sigaction(kGuarded[i].signal, &old_[i], nullptr);
  }
  guarded = false;
}

void InterruptGuard::ignore_further() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  for (const Guarded& one : kGuarded) {
    set_action(one.signal, &action, nullptr);
  }
  restores_ = false;
}

void InterruptGuard::end_with(pid_t child) { companion = child; }

int InterruptGuard::signal() const { return noted_signal.load(std::memory_order_relaxed); }

std::string_view InterruptGuard::signal_name() const {
  return requested() ? kGuarded[index_of(signal())].name : "";
}

}  // namespace bench
