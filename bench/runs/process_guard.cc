#include "bench/runs/process_guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "bench/runs/launcher_process.h"
#include "bench/runs/process_stat.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

constexpr char kBeat = 'b';
constexpr char kEnd = 'e';
/// EX_TEMPFAIL of sysexits.h.
constexpr int kStuck = 75;
constexpr std::chrono::milliseconds kRound{100};
constexpr int kSignalled = 128;

nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

/// The signals that the guard forwards.
constexpr std::array kForwarded{SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT};

sigset_t guard_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : kForwarded) {
    sigaddset(&set, signal);
  }
  return set;
}

/// What the worker receives for a signal. Open MPI's launcher kills ranks a second after SIGINT and
/// SIGTERM, so run_launcher() sends others, which it forwards without a limit.
int forwarded(int signal) {
  switch (signal) {
    case SIGUSR1:
      return SIGINT;
    case SIGUSR2:
      return SIGTERM;
    default:
      return signal;
  }
}

/// Waits for a signal, at most `time`. Returns it, or 0.
int wait_for_signal(nanoseconds time) {
  const sigset_t set = guard_signals();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
  return std::max(sigtimedwait(&set, nullptr, &limit), 0);
}

/// Writes a line with one call, so that the lines of several processes do not mix.
void print(const std::string& text) {
  const std::string line = "bench: " + text + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

/// Runs in the guard process.
class Watcher {
 public:
  Watcher(pid_t worker, int pipe, const ProcessGuardSettings& settings)
      : worker_(worker), pipe_(pipe), settings_(settings) {}

  [[noreturn]] void run() {
    nanoseconds round_at = now();
    while (true) {
      const int signal = wait_for_signal(kRound);
      if (signal != 0 && signal != SIGCHLD) {
        kill(worker_, forwarded(signal));
      }
      read_heartbeats();
      end_if_ended();
      // While the guard itself was stopped, it heard nothing.
      const nanoseconds away = now() - round_at;
      round_at += away;
      if (away > settings_.silence / 2) {
        heard_ += away;
      }
      if (expects_ && round_at - heard_ > settings_.silence) {
        end_stuck(round_at - heard_);
      }
      if (status_ && round_at - heard_ > settings_.finish) {
        kill(worker_, SIGKILL);
        print(fmt::format("{}: killed process {}: it did not exit within {:.0f} s of finishing",
                          settings_.name, worker_,
                          std::chrono::duration<double>(settings_.finish).count()));
        leave(*status_);
      }
    }
  }

 private:
  void read_heartbeats() {
    std::array<char, 64> letters{};
    ssize_t count = 0;
    while ((count = read(pipe_, letters.data(), letters.size())) > 0) {
      for (const char letter : std::span(letters).first(static_cast<std::size_t>(count))) {
        hear(letter);
      }
      heard_ = now();
    }
    if (count == 0) {
      expects_ = false;  // The worker has closed its end.
    }
  }

  void hear(char letter) {
    if (status_follows_) {
      status_ = static_cast<unsigned char>(letter);
      status_follows_ = false;
    } else {
      expects_ = letter == kBeat;
      status_follows_ = letter == kEnd;
    }
    if (!seen_) {
      report_to_launcher(RankEvent::runs, settings_.host);
    }
    seen_ = true;
  }

  void end_if_ended() const {
    int status = 0;
    const pid_t ended = waitpid(worker_, &status, WNOHANG);
    if (ended == 0) {
      return;
    }
    check(ended == worker_, fmt::format("waitpid: {}", std::strerror(errno)));
    if (WIFEXITED(status)) {
      leave(WEXITSTATUS(status));
    }
    const int signal = WTERMSIG(status);
    print(fmt::format("{}: process {} was killed by signal {} ({})", settings_.name, worker_,
                      signal, strsignal(signal)));
    hold();
    leave(kSignalled + signal);
  }

  [[noreturn]] void end_stuck(nanoseconds silent) const {
    kill(worker_, SIGKILL);
    print(fmt::format("{}: killed process {}: it was stopped or stuck for {:.1f} s", settings_.name,
                      worker_, std::chrono::duration<double>(silent).count()));
    hold();
    leave(kStuck);
  }

  /// Waits until the others have noticed, or the launcher ends this process.
  void hold() const {
    // Counts rounds, because the clock goes on while the machine stands still.
    for (nanoseconds left = seen_ ? settings_.hold : nanoseconds(0); left.count() > 0;
         left -= kRound) {
      const int signal = wait_for_signal(kRound);
      if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) {
        return;
      }
    }
  }

  [[noreturn]] void leave(int status) const {
    const bool interrupted = status == kSignalled + SIGHUP || status == kSignalled + SIGINT ||
                             status == kSignalled + SIGTERM;
    if (status != 0 && !interrupted) {
      report_to_launcher(RankEvent::failed, settings_.host);
    }
    _exit(status);
  }

  const pid_t worker_;
  const int pipe_;
  const ProcessGuardSettings& settings_;
  bool expects_ = false;
  /// The next letter is the worker's exit status.
  bool status_follows_ = false;
  std::optional<int> status_;
  /// The worker has sent a heartbeat.
  bool seen_ = false;
  nanoseconds heard_{};
};

}  // namespace

std::unique_ptr<ProcessGuard> ProcessGuard::start(const ProcessGuardSettings& settings) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw DeviceError(fmt::format("pipe2: {}", std::strerror(errno)));
  }
  const pid_t guard = getpid();
  (void)std::signal(SIGCHLD, SIG_DFL);  // If it were ignored, the system would reap the worker.
  const sigset_t signals = guard_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t worker = fork();
  if (worker < 0) {
    throw DeviceError(fmt::format("fork: {}", std::strerror(errno)));
  }
  if (worker > 0) {
    close(ends[1]);
    Watcher(worker, ends[0], settings).run();
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // Signals to the group come once, from the guard.
  if (getppid() != guard) {
    _exit(kStuck);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[0]);
  return std::unique_ptr<ProcessGuard>(new ProcessGuard(ends[1], settings));
}

ProcessGuard::ProcessGuard(int pipe, const ProcessGuardSettings& settings)
    : pipe_(pipe), name_(settings.name), silence_(settings.silence) {}

ProcessGuard::~ProcessGuard() { close(pipe_); }

void ProcessGuard::beat() {
  // A full pipe already has beats that the guard has not read.
  [[maybe_unused]] const ssize_t written = write(pipe_, &kBeat, 1);
  check_guard();
}

void ProcessGuard::end(int status) {
  const std::array<char, 2> letters{kEnd, static_cast<char>(status)};
  [[maybe_unused]] const ssize_t written = write(pipe_, letters.data(), letters.size());
}

void ProcessGuard::check_guard() {
  const pid_t guard = getppid();
  const auto stat = process_stat(guard);
  if (!stat || stat->state != 'T') {
    stopped_since_ = {};
    return;
  }
  const nanoseconds time = now();
  stopped_since_ = stopped_since_.count() == 0 ? time : stopped_since_;
  if (time - stopped_since_ > silence_) {
    print(fmt::format("{}: killed process {}: its guard, process {}, was stopped", name_, getpid(),
                      guard));
    kill(guard, SIGKILL);
  }
}

}  // namespace bench
