#include "bench/terminal/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>

#include "models/base/errors.h"

namespace bench {
namespace {

void do_nothing(int) {}

/// The descriptor on which the guard answers.
class Answer {
 public:
  Answer() { check(pipe(ends_.data()) == 0, "pipe failed"); }
  ~Answer() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  [[nodiscard]] int fd() const { return ends_[1]; }
  /// The text so far; there must be some.
  [[nodiscard]] std::string text() const {
    std::array<char, 512> bytes{};
    const ssize_t count = read(ends_[0], bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(count)};
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(InterruptGuard, NotesTheFirstSignalAndGoesOn) {
  const InterruptGuard guard;
  EXPECT_FALSE(guard.requested());
  EXPECT_EQ(guard.signal_name(), "");
  ASSERT_EQ(raise(SIGTERM), 0);
  EXPECT_TRUE(guard.requested());
  EXPECT_EQ(guard.signal(), SIGTERM);
  EXPECT_EQ(guard.exit_status(), 143);
  EXPECT_EQ(guard.signal_name(), "SIGTERM");
}

TEST(InterruptGuard, StartsAfresh) {
  {
    const InterruptGuard guard;
    ASSERT_EQ(raise(SIGINT), 0);
    EXPECT_EQ(guard.signal_name(), "SIGINT");
  }
  const InterruptGuard guard;
  EXPECT_FALSE(guard.requested());
}

TEST(InterruptGuard, RestoresTheFormerHandlers) {
  void (*const old_interrupt)(int) = std::signal(SIGINT, do_nothing);
  void (*const old_terminate)(int) = std::signal(SIGTERM, SIG_IGN);
  void (*const old_hangup)(int) = std::signal(SIGHUP, do_nothing);
  { const InterruptGuard guard; }
  EXPECT_EQ(std::signal(SIGINT, old_interrupt), &do_nothing);
  EXPECT_EQ(std::signal(SIGTERM, old_terminate), SIG_IGN);
  EXPECT_EQ(std::signal(SIGHUP, old_hangup), &do_nothing);
}

TEST(InterruptGuard, RemembersTheSignalBeforeIgnoredOnes) {
  const Answer answer;
  {
    InterruptGuard guard({.notice_fd = answer.fd(), .once_within = {}});
    ASSERT_EQ(raise(SIGHUP), 0);
    guard.ignore_further();
    ASSERT_EQ(raise(SIGINT), 0);  // Would end the process.
    EXPECT_EQ(guard.signal_name(), "SIGHUP");
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(std::signal(signal, SIG_DFL), SIG_IGN);
  }
}

TEST(InterruptGuard, LeavesAnIgnoredSignalIgnored) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    void (*const old)(int) = std::signal(signal, SIG_IGN);
    {
      const InterruptGuard guard;
      ASSERT_EQ(raise(signal), 0);
      EXPECT_FALSE(guard.requested());
    }
    std::signal(signal, old);
  }
}

TEST(InterruptGuard, AnswersTheFirstSignalAtOnce) {
  const Answer answer;
  const InterruptGuard guard({.notice_fd = answer.fd(), .before_notice = "<erase>"});
  ASSERT_EQ(raise(SIGINT), 0);
  EXPECT_EQ(
      answer.text(),
      "<erase>SIGINT: the run ends after the current step, or during set-up after the current "
      "part. Send it again to end at once, without a record.\n");
}

TEST(InterruptGuard, TakesAnySecondHangupAsTheFirst) {
  const Answer answer;
  const InterruptGuard guard({.notice_fd = answer.fd(), .once_within = {}});
  ASSERT_EQ(raise(SIGHUP), 0);
  ASSERT_EQ(raise(SIGHUP), 0);
  EXPECT_EQ(guard.signal_name(), "SIGHUP");
  EXPECT_EQ(guard.exit_status(), 129);
  EXPECT_EQ(
      answer.text(),
      "SIGHUP: the run ends after the current step, or during set-up after the current part.\n");
}

TEST(InterruptGuard, TakesASignalThatIsSentTwiceAtOnceForOne) {
  const InterruptGuard guard({.once_within = std::chrono::hours(1)});
  ASSERT_EQ(raise(SIGTERM), 0);
  ASSERT_EQ(raise(SIGTERM), 0);
  EXPECT_EQ(guard.signal_name(), "SIGTERM");
}

TEST(InterruptGuard, IsOneAtATime) {
  std::optional<InterruptGuard> guard(std::in_place);
  EXPECT_THROW(InterruptGuard(), InternalError);
  guard.reset();
  EXPECT_NO_THROW(InterruptGuard());
}

/// A second signal ends the process while it has a child that would continue; the exit status
/// reports the end of the child.
[[noreturn]] void end_twice_interrupted_beside_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    for (;;) pause();
  }
  setpgid(child, child);
  if (fork() == 0) {
    InterruptGuard guard({.once_within = {}});
    guard.end_with(child);
    raise(SIGINT);
    raise(SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1);
}

TEST(InterruptGuardDeathTest, TakesItsChildAlongOnTheSecondSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_twice_interrupted_beside_a_child(), testing::ExitedWithCode(0), "");
}

TEST(InterruptGuardDeathTest, EndsAtOnceOnTheSecondSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const InterruptGuard guard;
        (void)raise(SIGTERM);
        (void)raise(SIGINT);
      },
      ::testing::ExitedWithCode(128 + SIGINT), "");
  EXPECT_EXIT(
      {
        const InterruptGuard guard({.once_within = std::chrono::nanoseconds(-1)});
        (void)raise(SIGINT);
        (void)raise(SIGINT);
      },
      ::testing::ExitedWithCode(128 + SIGINT), "SIGINT: the run ends after the current step");
}

}  // namespace
}  // namespace bench
