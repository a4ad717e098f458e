#include "bench/runs/launcher_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace bench {
namespace {

using std::chrono::milliseconds;

/// Runs a shell script as the launcher. In it, $PPID is the process in run_launcher().
int run_script(const std::string& script, std::chrono::nanoseconds exit = std::chrono::hours(1)) {
  return run_launcher({"/bin/sh", "-c", script}, {.exit = exit, .once_within = milliseconds(50)});
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

TEST(LauncherProcess, ForwardsASignalThatComesTwiceAtOnceOnce) {
  const std::string file = testing::TempDir() + "launcher_signals";
  EXPECT_EQ(run_script("trap 'echo TERM >>" + file +
                       "' TERM; kill -TERM $PPID; kill -TERM $PPID; sleep 0.2; exit 0"),
            128 + SIGTERM);
  std::ifstream stream(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "TERM\n");
  unlink(file.c_str());
}

TEST(LauncherProcess, KillsALauncherThatWaitsAfterASecondSignal) {
  EXPECT_EQ(run_script("trap '' TERM; kill -TERM $PPID; sleep 0.1; kill -TERM $PPID; sleep 1000",
                       milliseconds(100)),
            128 + SIGTERM);
}

TEST(LauncherProcess, KillsALauncherThatWaitsAfterARankHasFailed) {
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 1000", milliseconds(100)), 1);
}

TEST(LauncherProcess, FailsIfARankHasFailedButTheLauncherSucceeds) {
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 0.1; exit 0"), 1);
}

TEST(LauncherProcess, HearsOnlyRanksOfItsHost) {
  sigset_t failure;
  sigemptyset(&failure);
  sigaddset(&failure, SIGUSR1);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &failure, &before);
  setenv("BENCH_LAUNCHER", (std::to_string(getpid()) + " a").c_str(), 1);
  const timespec no_time{};
  report_failure_to_launcher("b");
  EXPECT_EQ(sigtimedwait(&failure, nullptr, &no_time), -1);
  report_failure_to_launcher("a");
  EXPECT_EQ(sigtimedwait(&failure, nullptr, &no_time), SIGUSR1);
  unsetenv("BENCH_LAUNCHER");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace bench
