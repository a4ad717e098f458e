#include "bench/runs/launcher_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "bench/runs/run_world.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

/// "PID HOST" of the process in run_launcher().
constexpr const char* kLauncherVariable = "BENCH_LAUNCHER";
/// From a rank: it has failed.
constexpr int kRankFailed = SIGUSR1;
constexpr std::chrono::milliseconds kRound{100};
constexpr int kSignalled = 128;

nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

sigset_t heard_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, kRankFailed}) {
    struct sigaction action {};
    // What was ignored at launch remains ignored: nohup.
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN) {
      sigaddset(&set, signal);
    }
  }
  return set;
}

/// Replaces the child process by the launcher.
[[noreturn]] void become(const std::vector<char*>& arguments, const sigset_t& mask, pid_t parent) {
  setpgid(0, 0);  // A terminal's Ctrl-C reaches only the parent, which forwards it.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) {
    _exit(1);
  }
  // A process in the background must not read from the terminal.
  if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execv(arguments.front(), arguments.data());
  std::cerr << "bench: " << arguments.front() << ": " << std::strerror(errno) << "\n";
  _exit(1);
}

/// Waits for the launcher and acts on signals.
class LauncherWatch {
 public:
  LauncherWatch(pid_t launcher, bool by_user_signals, const LauncherLimits& limits)
      : launcher_(launcher), by_user_signals_(by_user_signals), limits_(limits) {}

  int wait() {
    const sigset_t set = heard_signals();
    const timespec round{.tv_sec = 0, .tv_nsec = nanoseconds(kRound).count()};
    while (true) {
      if (const int signal = sigtimedwait(&set, nullptr, &round); signal > 0) {
        act_on(signal);
      }
      int status = 0;
      if (const pid_t ended = waitpid(launcher_, &status, WNOHANG); ended != 0) {
        check(ended == launcher_, fmt::format("waitpid: {}", std::strerror(errno)));
        return exit_status(WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status));
      }
      if (exits_by_ && now() > *exits_by_) {
        kill_launcher();
      }
    }
  }

 private:
  void act_on(int signal) {
    if (signal == kRankFailed) {
      failed_ = true;
      limit_exit();
    } else if (signal != SIGCHLD) {
      end_by(signal);
    }
  }

  void end_by(int signal) {
    const nanoseconds time = now();
    if (signal_ == 0) {
      signal_ = signal;
      signal_at_ = time;
      if (by_user_signals_) {
        signal = signal == SIGINT ? SIGUSR1 : SIGUSR2;
      }
    } else if (signal == SIGHUP || (signal == signal_ && time - signal_at_ < limits_.once_within)) {
      return;
    } else {
      std::cerr << fmt::format("bench: a second signal, SIG{}, ends all processes at once\n",
                               sigabbrev_np(signal));
      limit_exit();
    }
    kill(launcher_, signal);
  }

  void limit_exit() {
    exits_by_ = std::min(exits_by_.value_or(nanoseconds::max()), now() + limits_.exit);
  }

  void kill_launcher() {
    std::cerr << fmt::format(
        "bench: killed the launcher, process {}: it did not exit within {:g} s, probably because "
        "a host no longer answers\n",
        launcher_, std::chrono::duration<double>(limits_.exit).count());
    kill(-launcher_, SIGKILL);
    exits_by_.reset();
  }

  [[nodiscard]] int exit_status(int launcher) const {
    if (signal_ != 0) {
      return kSignalled + signal_;
    }
    const bool by_signal = launcher > kSignalled;
    return failed_ && (launcher == 0 || by_signal) ? 1 : launcher;
  }

  const pid_t launcher_;
  const bool by_user_signals_;
  const LauncherLimits& limits_;
  /// The signal that ends the run, or 0.
  int signal_ = 0;
  nanoseconds signal_at_{};
  bool failed_ = false;
  std::optional<nanoseconds> exits_by_;
};

}  // namespace

int run_launcher(std::vector<std::string> words, bool by_user_signals,
                 const LauncherLimits& limits) {
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  setenv(kLauncherVariable, fmt::format("{} {}", getpid(), host_name()).c_str(), 1);
  (void)std::signal(SIGCHLD, SIG_DFL);  // If it were ignored, the system would reap the launcher.
  const sigset_t set = heard_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  const pid_t parent = getpid();
  const pid_t launcher = fork();
  if (launcher < 0) {
    throw DeviceError(fmt::format("fork: {}", std::strerror(errno)));
  }
  if (launcher == 0) {
    become(arguments, before, parent);
  }
  setpgid(launcher, launcher);
  const int status = LauncherWatch(launcher, by_user_signals, limits).wait();
  const timespec no_time{};
  while (sigtimedwait(&set, nullptr, &no_time) > 0) {  // It came too late to end anything.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void report_failure_to_launcher(const std::string& host) {
  const char* const text = std::getenv(kLauncherVariable);
  if (text == nullptr) {
    return;
  }
  const std::string_view place = text;
  const std::size_t space = place.find(' ');
  pid_t process = 0;
  std::from_chars(place.data(), place.data() + place.size(), process);
  if (process <= 1 || space == std::string_view::npos || place.substr(space + 1) != host) {
    return;
  }
  // Another process may have the number now.
  std::error_code error;
  const auto program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process), error);
  if (!error && program == std::filesystem::read_symlink("/proc/self/exe", error)) {
    kill(process, kRankFailed);
  }
}

}  // namespace bench
