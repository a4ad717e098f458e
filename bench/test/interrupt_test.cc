#include "bench/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "models/base/errors.h"

namespace bench {
namespace {

void do_nothing(int) {}

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
  { const InterruptGuard guard; }
  EXPECT_EQ(std::signal(SIGINT, old_interrupt), &do_nothing);
  EXPECT_EQ(std::signal(SIGTERM, old_terminate), SIG_IGN);
}

TEST(InterruptGuard, IsOneAtATime) {
  std::optional<InterruptGuard> guard(std::in_place);
  EXPECT_THROW(InterruptGuard(), InternalError);
  guard.reset();
  EXPECT_NO_THROW(InterruptGuard());
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
}

}  // namespace
}  // namespace bench
