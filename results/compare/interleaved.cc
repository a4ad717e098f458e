#include "results/compare/interleaved.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>

#include "models/base/errors.h"
#include "results/store/record_files.h"

namespace bench::results {
namespace {

/// SIGHUP and SIGQUIT stay ignored if they were, as with nohup.
struct Handled {
  int signal;
  bool even_if_ignored;
};
constexpr std::array kHandled = {Handled{SIGINT, true}, Handled{SIGTERM, true},
                                 Handled{SIGHUP, false}, Handled{SIGQUIT, false}};

/// The first signal, or 0.
volatile std::sig_atomic_t interrupt_seen = 0;
/// The process group of the running command; 0 without one.
volatile std::sig_atomic_t running_group = 0;

/// After this time, the running command gets the signal again.
volatile std::sig_atomic_t seconds_to_again = 0;

/// When the first signal came, in milliseconds of the monotonic clock.
std::atomic<std::int64_t> interrupt_ms = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t monotonic_ms() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1000} + now.tv_nsec / 1'000'000;
}

/// Passes the first signal on to the command. A second SIGINT or SIGTERM kills it. Within 0.2 s it
/// does not count, because `timeout` sends its signal twice.
extern "C" void note_interrupt(int signal) {
  constexpr std::int64_t kAtOnceMs = 200;
  const int saved = errno;
  const bool ends = signal == SIGINT || signal == SIGTERM;
  if (interrupt_seen == 0) {
    interrupt_ms = monotonic_ms();
  } else if (ends && running_group != 0 && monotonic_ms() - interrupt_ms > kAtOnceMs) {
    (void)kill(-running_group, SIGKILL);
  }
  if (interrupt_seen == 0 && running_group != 0) {
    (void)kill(-running_group, signal);
    (void)alarm(static_cast<unsigned>(seconds_to_again));
  }
  if (interrupt_seen == 0) interrupt_seen = signal;
  errno = saved;
}

/// Passes the signal on again: a shell can lose one while it starts a program.
extern "C" void pass_again(int /*alarm*/) {
  const int saved = errno;
  if (interrupt_seen != 0 && running_group != 0) {
    (void)kill(-running_group, interrupt_seen);
    (void)alarm(static_cast<unsigned>(seconds_to_again));
  }
  errno = saved;
}

/// While alive, notes the signals instead of ending on them. Sends the running command the same
/// signal.
class InterruptNoted {
 public:
  InterruptNoted() {
    interrupt_seen = 0;
    struct sigaction action {};
    (void)sigemptyset(&action.sa_mask);
    action.sa_handler = pass_again;
    (void)sigaction(SIGALRM, &action, &old_alarm_);
    action.sa_handler = note_interrupt;
    for (std::size_t i = 0; i < kHandled.size(); ++i) {
      (void)sigaction(kHandled[i].signal, nullptr, &old_[i]);
      if (kHandled[i].even_if_ignored || old_[i].sa_handler != SIG_IGN) {
        (void)sigaction(kHandled[i].signal, &action, nullptr);
      }
    }
  }
  ~InterruptNoted() {
    (void)alarm(0);
    (void)sigaction(SIGALRM, &old_alarm_, nullptr);
    for (std::size_t i = 0; i < kHandled.size(); ++i) {
      (void)sigaction(kHandled[i].signal, &old_[i], nullptr);
    }
  }
  InterruptNoted(const InterruptNoted&) = delete;
  InterruptNoted& operator=(const InterruptNoted&) = delete;

  [[nodiscard]] static bool seen() { return interrupt_seen != 0; }

 private:
  std::array<struct sigaction, kHandled.size()> old_{};
  struct sigaction old_alarm_ {};
};

/// Blocks the signals while alive.
class InterruptHeld {
 public:
  InterruptHeld() {
    sigset_t held;
    (void)sigemptyset(&held);
    for (const Handled& one : kHandled) (void)sigaddset(&held, one.signal);
    (void)pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~InterruptHeld() { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InterruptHeld(const InterruptHeld&) = delete;
  InterruptHeld& operator=(const InterruptHeld&) = delete;

  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// Runs in the child and never returns. A separate process group keeps a terminal's Ctrl-C away
/// from the command, so that only we signal it.
[[noreturn]] void become(const char* command, const char* log, const sigset_t& mask) {
  constexpr int kCannotRun = 127;
  (void)setpgid(0, 0);
  for (const Handled& one : kHandled) {
    struct sigaction action {};
    (void)sigaction(one.signal, nullptr, &action);
    if (action.sa_handler == note_interrupt) (void)signal(one.signal, SIG_DFL);
  }
  (void)sigprocmask(SIG_SETMASK, &mask, nullptr);
  // The command is in the background: reading from the terminal would stop it (SIGTTIN).
  if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
    (void)dup2(nothing, STDIN_FILENO);
  }
  const int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(kCannotRun);
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXFSZ, SIG_DFL);
  (void)execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  _exit(kCannotRun);
}

/// The wait status of a shell that ran `command`, with its output in `log`.
int run_shell(const std::string& command, const std::string& log) {
  // A shell that is signalled waits for its command, and runs nothing more.
  const std::string script = "trap 'exit 130' INT TERM HUP QUIT\n" + command;
  pid_t child = 0;
  {
    const InterruptHeld held;  // Until the process group to signal is known.
    child = fork();
    if (child < 0) throw DeviceError(fmt::format("fork failed: {}", std::strerror(errno)));
    if (child == 0) become(script.c_str(), log.c_str(), held.before());
    (void)setpgid(child, child);
    running_group = child;
  }
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  running_group = 0;
  if (ended < 0) throw DeviceError(fmt::format("waitpid failed: {}", std::strerror(errno)));
  return status;
}

std::string status_text(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

void rest(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!InterruptNoted::seen() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// The record of one run; empty if it was interrupted.
std::optional<StoredRun> run_once(const InterleavedPlan& plan, bool is_other, std::size_t number) {
  const std::string stem =
      (plan.folder / fmt::format("{}-{:02}", is_other ? "new" : "base", number)).string();
  const std::string record = stem + ".json";
  const std::string& command = is_other ? plan.other : plan.base;
  std::filesystem::remove(record);  // An earlier record would be taken for this run's.
  const int status =
      run_shell(fmt::format("{} --result_file={}", command, shell_quoted(record)), stem + ".log");
  if (InterruptNoted::seen()) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw DataError(
        fmt::format("'{}' {}; see its output in {}.log", command, status_text(status), stem));
  }
  if (!std::filesystem::exists(record)) {
    throw DataError(
        fmt::format("'{}' wrote no record to {}; end the command with flags of bench, because "
                    "--result_file=FILE is appended",
                    command, record));
  }
  std::vector<StoredRun> runs = read_runs(record);
  if (runs.size() != 1) {
    throw DataError(
        fmt::format("'{}' wrote {} records, but each command must write one; remove --repeats",
                    command, runs.size()));
  }
  return std::move(runs.front());
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

std::vector<bool> interleaved_order(std::size_t pairs) {
  std::vector<bool> order;
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool other_first = i % 2 == 1;
    order.push_back(other_first);
    order.push_back(!other_first);
  }
  return order;
}

InterleavedRuns run_interleaved(const InterleavedPlan& plan, const AfterRun& after) {
  std::filesystem::create_directories(plan.folder);
  seconds_to_again = static_cast<int>(plan.signal_again.count());
  const InterruptNoted noted;
  InterleavedRuns runs;
  std::size_t done = 0;
  for (const bool is_other : interleaved_order(plan.pairs)) {
    if (done > 0) rest(plan.cooldown);
    std::optional<StoredRun> run;
    if (!InterruptNoted::seen()) run = run_once(plan, is_other, done / 2 + 1);
    if (!run) {
      runs.interrupted_by = interrupt_seen;
      break;
    }
    ++done;
    (is_other ? runs.other : runs.base).push_back(*run);
    after(runs, *run, is_other);
  }
  const std::size_t whole = std::min(runs.base.size(), runs.other.size());
  runs.base.resize(whole);
  runs.other.resize(whole);
  return runs;
}

}  // namespace bench::results
