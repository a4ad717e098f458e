#include "bench/runs/launcher_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "bench/runs/process_stat.h"
#include "bench/runs/run_world.h"
#include "bench/terminal/interrupt.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

/// "PID HOST" of the process in run_launcher().
constexpr const char* kLauncherVariable = "BENCH_LAUNCHER";
constexpr int kRankRuns = SIGUSR2;
constexpr int kRankFailed = SIGUSR1;
constexpr std::chrono::milliseconds kRound{20};
constexpr int kSignalled = 128;

nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

sigset_t rank_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kRankRuns);
  sigaddset(&set, kRankFailed);
  return set;
}

/// The processes on this host that a process has started, and that these have started.
std::vector<pid_t> descendants_of(pid_t process) {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t child = std::atoi(entry.path().filename().c_str());
    if (const auto stat = child > 0 ? process_stat(child) : std::nullopt) {
      children.emplace(stat->parent, child);
    }
  }
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
    }
  }
  found.erase(found.begin());
  return found;
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

/// Waits for the launcher's wait status.
class LauncherWatch {
 public:
  LauncherWatch(pid_t launcher, bool by_user_signals, nanoseconds patience)
      : launcher_(launcher), by_user_signals_(by_user_signals), patience_(patience) {}

  int wait(const InterruptGuard& interrupt) {
    for (bool told = false;;) {
      hear_ranks();
      int status = 0;
      if (const pid_t ended = waitpid(launcher_, &status, WNOHANG); ended != 0) {
        check(ended == launcher_, fmt::format("waitpid: {}", std::strerror(errno)));
        return status;
      }
      if (interrupt.requested() && !told) {
        kill(launcher_, forwarded(interrupt.signal()));
        told = true;
        // A launcher that is still starting the ranks may lose the signal, or wait for them for
        // ever.
        exits_by_ = runs_ ? exits_by_ : std::min(exits_by_, now() + patience_);
      }
      if (now() > exits_by_) {
        kill_launcher();
      }
    }
  }
  [[nodiscard]] bool rank_failed() const { return failed_; }

 private:
  /// Waits for a round at most.
  void hear_ranks() {
    const sigset_t set = rank_signals();
    const timespec round{.tv_sec = 0, .tv_nsec = nanoseconds(kRound).count()};
    const int signal = sigtimedwait(&set, nullptr, &round);
    if (signal == kRankRuns) {
      runs_ = true;
    } else if (signal == kRankFailed && !failed_) {
      failed_ = true;
      exits_by_ = now() + patience_;
    }
  }

  /// Before ranks run, the launcher has nobody to whom it could forward a signal.
  [[nodiscard]] int forwarded(int signal) const {
    if (!by_user_signals_ || !runs_) {
      return signal;
    }
    return signal == SIGINT ? SIGUSR1 : SIGUSR2;
  }

  void kill_launcher() {
    std::cerr << fmt::format(
        "bench: killed the launcher, process {}: it did not exit within {:g} s{}\n", launcher_,
        std::chrono::duration<double>(patience_).count(),
        failed_ ? ", probably because a host no longer answers" : " after the signal");
    const std::vector<pid_t> descendants = descendants_of(launcher_);
    kill(-launcher_, SIGKILL);
    for (const pid_t process : descendants) {
      kill(process, SIGKILL);
    }
    exits_by_ = nanoseconds::max();
  }

  const pid_t launcher_;
  const bool by_user_signals_;
  const nanoseconds patience_;
  bool runs_ = false;
  bool failed_ = false;
  nanoseconds exits_by_ = nanoseconds::max();
};

}  // namespace

int run_launcher(std::vector<std::string> words, bool by_user_signals, nanoseconds patience) {
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  setenv(kLauncherVariable, fmt::format("{} {}", getpid(), host_name()).c_str(), 1);
  (void)std::signal(SIGCHLD, SIG_DFL);  // If it were ignored, the system would reap the launcher.
  InterruptGuard interrupt;
  const sigset_t set = rank_signals();
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
  interrupt.end_with(launcher);
  LauncherWatch watch(launcher, by_user_signals, patience);
  const int status = watch.wait(interrupt);
  interrupt.end_with(0);
  if (interrupt.requested()) {
    return interrupt.exit_status();
  }
  if (watch.rank_failed() &&
      (WIFSIGNALED(status) || WEXITSTATUS(status) == 0 || WEXITSTATUS(status) > kSignalled)) {
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

void report_to_launcher(RankEvent event, const std::string& host) {
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
    kill(process, event == RankEvent::runs ? kRankRuns : kRankFailed);
  }
}

}  // namespace bench
