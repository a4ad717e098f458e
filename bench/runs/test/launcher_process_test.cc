#include "bench/runs/launcher_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>

namespace bench {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours kForever{1};
constexpr LauncherLimits kShort{.exit = milliseconds(100), .once_within = milliseconds(50)};

/// What `work` returns in another process. This one may have threads that would receive the
/// signals.
int in_process(const std::function<int()>& work) {
  const pid_t process = fork();
  if (process == 0) {
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// Runs a shell script as the launcher. In it, $PPID is the process in run_launcher().
int run_script(const std::string& script, const LauncherLimits& limits = {.exit = kForever},
               bool by_user_signals = false) {
  return in_process([&] {
    return run_launcher({"/bin/sh", "-c", script}, by_user_signals, limits);
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

TEST(LauncherProcess, ForwardsASignalThatComesTwiceAtOnceOnce) {
  const std::string file = testing::TempDir() + "launcher_signals";
  EXPECT_EQ(run_script("trap 'echo TERM >>" + file +
                       "' TERM; kill -TERM $PPID; kill -TERM $PPID; sleep 0.2; exit 0"),
            128 + SIGTERM);
  std::ifstream stream(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "TERM\n");
  unlink(file.c_str());
}

TEST(LauncherProcess, ForwardsTheFirstSignalAsAUserSignalIfAsked) {
  for (const auto& [sent, received] :
       {std::pair("INT", "USR1"), std::pair("TERM", "USR2"), std::pair("HUP", "USR2")}) {
    const std::string file = testing::TempDir() + "launcher_signals";
    const std::string script = std::string("trap 'echo ") + received + " >>" + file + "; exit 0' " +
                               received + "; kill -" + sent +
                               " $PPID; while :; do sleep 0.01; done";
    run_script(script, {}, true);
    std::ifstream stream(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}),
              std::string(received) + "\n");
    unlink(file.c_str());
  }
}

TEST(LauncherProcess, KillsALauncherThatWaitsAfterASecondSignal) {
  EXPECT_EQ(
      run_script("trap '' TERM; kill -TERM $PPID; sleep 0.1; kill -TERM $PPID; sleep 1000", kShort),
      128 + SIGTERM);
}

TEST(LauncherProcess, KillsALauncherThatWaitsAfterARankHasFailed) {
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 1000", kShort), 1);
}

TEST(LauncherProcess, FailsIfARankHasFailedAndTheLauncherSucceedsOrIsKilled) {
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 0.1; exit 0"), 1);
  EXPECT_EQ(run_script("kill -USR1 $PPID; sleep 0.1; kill -TERM $$"), 1);
}

/// True if a rank of this host reports its failure to a launcher's process on host "a".
bool is_heard_from(const std::string& host) {
  return in_process([&] {
           sigset_t failure;
           sigemptyset(&failure);
           sigaddset(&failure, SIGUSR1);
           pthread_sigmask(SIG_BLOCK, &failure, nullptr);
           setenv("BENCH_LAUNCHER", (std::to_string(getpid()) + " a").c_str(), 1);
           report_failure_to_launcher(host);
           const timespec no_time{};
           return sigtimedwait(&failure, nullptr, &no_time) == SIGUSR1 ? 1 : 0;
         }) == 1;
}

TEST(LauncherProcess, HearsOnlyRanksOfItsHost) {
  EXPECT_TRUE(is_heard_from("a"));
  EXPECT_FALSE(is_heard_from("b"));
}

}  // namespace
}  // namespace bench
