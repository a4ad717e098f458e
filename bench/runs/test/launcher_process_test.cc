#include "bench/runs/launcher_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "bench/runs/process_stat.h"

namespace bench {
namespace {

using std::chrono::milliseconds;

/// What `work` returns in another process. This one may have threads that would receive the
/// signals.
int in_process(const std::function<int()>& work) {
  const pid_t process = fork();
  if (process == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      (void)std::signal(signal, SIG_DFL);  // A shell ignores SIGINT in its background jobs.
    }
    try {
      _exit(work());
    } catch (...) {
      _exit(99);
    }
  }
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// Runs a shell script as the launcher. In it, $PPID is the process in run_launcher().
int run_script(const std::string& script, std::chrono::nanoseconds patience = std::chrono::hours(1),
               bool by_user_signals = false) {
  return in_process([&] {
    return run_launcher({"/bin/sh", "-c", script}, by_user_signals, patience);
  });
}

TEST(LauncherProcess, ReturnsTheStatusOfTheLauncher) {
  EXPECT_EQ(run_script("exit 7"), 7);
  EXPECT_EQ(run_script("exit 0"), 0);
  EXPECT_EQ(run_script("kill -KILL $$"), 128 + SIGKILL);
}

TEST(LauncherProcess, ReturnsTheSignalThatEndedTheRunWhateverTheLauncherReturns) {
  EXPECT_EQ(run_script("trap 'exit 0' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"),
            128 + SIGTERM);
}

/// The exit status of a launcher that receives `sent`, once it has done `first`, and exits with 0
/// only if `received` arrives.
int status_after(const std::string& first, const std::string& sent, const std::string& received) {
  const std::string file = testing::TempDir() + "launcher_signal";
  const int status = run_script("for s in INT TERM HUP USR1 USR2; do trap \"echo $s >" + file +
                                    "; exit 0\" $s; done; " + first + " kill -" + sent +
                                    " $PPID; while :; do sleep 0.01; done",
                                std::chrono::hours(1), true);
  std::ifstream stream(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), received + "\n");
  unlink(file.c_str());
  return status;
}

TEST(LauncherProcess, SendsUserSignalsOnceRanksRun) {
  const std::string runs = "kill -USR2 $PPID; sleep 0.1;";
  EXPECT_EQ(status_after(runs, "INT", "USR1"), 128 + SIGINT);
  EXPECT_EQ(status_after(runs, "TERM", "USR2"), 128 + SIGTERM);
  EXPECT_EQ(status_after(runs, "HUP", "USR2"), 128 + SIGHUP);
  EXPECT_EQ(status_after("", "INT", "INT"), 128 + SIGINT);
  EXPECT_EQ(status_after("", "TERM", "TERM"), 128 + SIGTERM);
}

TEST(LauncherProcess, KillsTheLauncherAfterASecondSignal) {
  EXPECT_EQ(run_script("trap '' TERM; while :; do kill -TERM $PPID; sleep 0.3; done"),
            128 + SIGTERM);
}

/// True if the process exists and is not a zombie.
bool runs(pid_t process) {
  const auto stat = process_stat(process);
  return stat && stat->state != 'Z';
}

TEST(LauncherProcess, KillsALauncherThatWaitsAfterASignalBeforeRanksRun) {
  const std::string file = testing::TempDir() + "launcher_child";
  EXPECT_EQ(run_script("trap '' TERM; setsid sh -c 'echo $$ >" + file +
                           "; sleep 1000' & while [ ! -s " + file +
                           " ]; do sleep 0.01; done; kill -TERM $PPID; while :; do sleep 0.1; done",
                       milliseconds(200)),
            128 + SIGTERM);
  int child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  for (int i = 0; i < 1000 && runs(child); ++i) usleep(10'000);
  EXPECT_FALSE(runs(child)) << "it is in another session";
  unlink(file.c_str());
}

TEST(LauncherProcess, KillsALauncherThatWaitsAfterARankHasFailed) {
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 1000", milliseconds(100)), 1);
}

TEST(LauncherProcess, FailsIfARankHasFailedAndTheLauncherSucceedsOrIsKilled) {
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 0.1; exit 0"), 1);
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 0.1; kill -TERM $$"), 1);
}

/// The signal that a rank of this host sends to a launcher's process on host "a"; 0: none.
int signal_of(RankEvent event, const std::string& host) {
  return in_process([&] {
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, nullptr);
    setenv("BENCH_LAUNCHER", (std::to_string(getpid()) + " a").c_str(), 1);
    report_to_launcher(event, host);
    const timespec no_time{};
    return std::max(sigtimedwait(&both, nullptr, &no_time), 0);
  });
}

TEST(LauncherProcess, HearsOnlyRanksOfItsHost) {
  EXPECT_EQ(signal_of(RankEvent::failed, "a"), SIGUSR1);
  EXPECT_EQ(signal_of(RankEvent::runs, "a"), SIGUSR2);
  EXPECT_EQ(signal_of(RankEvent::failed, "b"), 0);
}

}  // namespace
}  // namespace bench
