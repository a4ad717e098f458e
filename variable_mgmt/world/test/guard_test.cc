#include "variable_mgmt/world/guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace bench {
namespace {

using std::chrono::milliseconds;

/// Starts a guard whose worker does `work`, and returns the guard's process.
pid_t start(const std::function<void(Guard& guard)>& work,
            std::chrono::nanoseconds finish = std::chrono::hours(1)) {
  const pid_t process = fork();
  if (process == 0) {
    const auto guard = Guard::start(
        {.host = "a", .silence = milliseconds(300), .hold = milliseconds(0), .finish = finish});
    work(*guard);
    _exit(0);
  }
  return process;
}

int status_of(pid_t process) {
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST(Guard, ExitsWithTheStatusOfItsWorker) {
  EXPECT_EQ(status_of(start([](Guard&) { _exit(7); })), 7);
}

TEST(Guard, ReportsTheSignalThatEndedItsWorker) {
  EXPECT_EQ(status_of(start([](Guard& guard) {
              guard.beat();
              raise(SIGKILL);
            })),
            128 + SIGKILL);
}

TEST(Guard, EndsAWorkerThatIsStopped) {
  EXPECT_EQ(status_of(start([](Guard& guard) {
              guard.beat();
              raise(SIGSTOP);
            })),
            75);
}

TEST(Guard, LeavesAWorkerAloneAfterItsLastBeat) {
  EXPECT_EQ(status_of(start([](Guard& guard) {
              guard.beat();
              guard.end(4);
              usleep(700'000);
              _exit(3);
            })),
            3);
}

TEST(Guard, EndsAWorkerThatDoesNotFinish) {
  EXPECT_EQ(status_of(start(
                [](Guard& guard) {
                  guard.beat();
                  guard.end(4);
                  sleep(1'000'000);
                },
                milliseconds(300))),
            4);
}

TEST(Guard, ForwardsSignals) {
  // SIGUSR1 is blocked before the split, so that it cannot come too early.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const pid_t guard = start([&](Guard&) {
    int signal = 0;
    sigwait(&set, &signal);
    _exit(5);
  });
  kill(guard, SIGUSR1);
  EXPECT_EQ(status_of(guard), 5);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace
}  // namespace bench
