#include "bench/runs/process_guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace bench {
namespace {

using std::chrono::milliseconds;

/// Starts a guard whose worker does `work`, and returns the guard's process.
pid_t start(const std::function<void(ProcessGuard& guard)>& work,
            std::chrono::nanoseconds finish = std::chrono::hours(1)) {
  const pid_t process = fork();
  if (process == 0) {
    const auto guard = ProcessGuard::start({.host = "a",
                                            .name = "rank 1 (host a)",
                                            .silence = milliseconds(300),
                                            .hold = milliseconds(0),
                                            .finish = finish});
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

TEST(ProcessGuard, ExitsWithTheStatusOfItsWorker) {
  EXPECT_EQ(status_of(start([](ProcessGuard&) { _exit(7); })), 7);
}

TEST(ProcessGuard, ForwardsSignalsAndTurnsUserSignalsIntoOthers) {
  for (const auto& [sent, received] :
       {std::pair(SIGTERM, SIGTERM), std::pair(SIGUSR1, SIGINT), std::pair(SIGUSR2, SIGTERM)}) {
    const int expected = received;
    EXPECT_EQ(status_of(start([&, signal = sent](ProcessGuard&) {
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, expected);
                pthread_sigmask(SIG_BLOCK, &set, nullptr);
                kill(getppid(), signal);
                int heard = 0;
                sigwait(&set, &heard);
                _exit(heard);
              })),
              received);
  }
}

TEST(ProcessGuard, ReportsTheSignalThatEndedItsWorker) {
  EXPECT_EQ(status_of(start([](ProcessGuard& guard) {
              guard.beat();
              raise(SIGKILL);
            })),
            128 + SIGKILL);
}

TEST(ProcessGuard, EndsAWorkerThatIsStopped) {
  EXPECT_EQ(status_of(start([](ProcessGuard& guard) {
              guard.beat();
              raise(SIGSTOP);
            })),
            75);
}

TEST(ProcessGuard, LeavesAWorkerAloneAfterItsLastBeat) {
  EXPECT_EQ(status_of(start([](ProcessGuard& guard) {
              guard.beat();
              guard.end(4);
              usleep(700'000);
              _exit(3);
            })),
            3);
}

TEST(ProcessGuard, EndsAWorkerThatDoesNotFinish) {
  EXPECT_EQ(status_of(start(
                [](ProcessGuard& guard) {
                  guard.beat();
                  guard.end(4);
                  sleep(1'000'000);
                },
                milliseconds(300))),
            4);
}

}  // namespace
}  // namespace bench
