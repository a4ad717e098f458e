#include "bench/terminal/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "results/environment/test/fake_clock.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Progress, WritesAtMostOneLinePerIntervalToAFile) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.line_interval = seconds(10)});
  progress.start("training", 100);
  for (int step = 1; step <= 50; ++step) {
    clock.advance(seconds(1));
    progress.update(step);
  }
  EXPECT_EQ(out.str(),
            "training: step 10 of 100, 1:30 left\n"
            "training: step 20 of 100, 1:20 left\n"
            "training: step 30 of 100, 1:10 left\n"
            "training: step 40 of 100, 1:00 left\n"
            "training: step 50 of 100, 0:50 left\n");
}

TEST(Progress, OverwritesAndFinallyClearsItsLineOnATerminal) {
  std::ostringstream out;
  FakeClock clock;
  {
    Progress progress(out, clock,
                      {.terminal = {.rewrites = true}, .terminal_interval = milliseconds(200)});
    progress.start("warm up", 10);
    clock.advance(milliseconds(100));
    progress.update(1);
    EXPECT_EQ(out.str(), "");
    clock.advance(milliseconds(900));
    progress.update(2);
    EXPECT_EQ(out.str(), "\r\x1b[Kwarm up: step 2 of 10, 0:04 left");
  }
  EXPECT_TRUE(out.str().ends_with("left\r\x1b[K"));
}

TEST(Progress, ClearsOnlyALineThatIsUp) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.terminal = {.rewrites = true}});
  progress.clear();
  EXPECT_EQ(out.str(), "");
  progress.start("training", 10);
  clock.advance(seconds(1));
  progress.update(1);
  progress.clear();
  progress.clear();
  EXPECT_EQ(out.str(), "\r\x1b[Ktraining: step 1 of 10, 0:09 left\r\x1b[K");
}

TEST(Progress, CountsHoursAndKnowsNothingBeforeTheFirstStep) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.line_interval = seconds(1)});
  progress.start("training", 100);
  clock.advance(seconds(5));
  progress.update(0);
  clock.advance(minutes(2) - seconds(5));
  progress.update(1);
  EXPECT_EQ(out.str(), "training: step 0 of 100\ntraining: step 1 of 100, 3:18:00 left\n");
}

TEST(Progress, DoesNotCountStepsBeyondAYear) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.line_interval = seconds(1)});
  progress.start("training", std::numeric_limits<std::int64_t>::max());
  clock.advance(seconds(2));
  progress.update(1);
  Progress limited(out, clock, {.line_interval = seconds(1), .time_limit = seconds(60)});
  limited.start("training", std::numeric_limits<std::int64_t>::max());
  clock.advance(seconds(10));
  limited.update(1);
  EXPECT_EQ(out.str(),
            "training: step 1 of 9223372036854775807, more than a year left\n"
            "training: step 1 of 9223372036854775807, 0:50 left\n");
}

TEST(Progress, EndsWithTheTimeLimitWhenThatComesFirst) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.line_interval = seconds(1), .time_limit = seconds(60)});
  progress.start("training", 1000);
  clock.advance(seconds(10));
  progress.update(1);
  clock.advance(seconds(55));
  progress.update(2);
  EXPECT_EQ(out.str(),
            "training: step 1 of 1000, 0:50 left\ntraining: step 2 of 1000, 0:00 left\n");
}

TEST(Progress, CutsItsLineToTheWidthOfTheTerminal) {
  std::ostringstream out;
  FakeClock clock;
  std::size_t width = 20;
  Progress progress(out, clock, {.terminal = {.rewrites = true, .columns = [&] { return width; }}});
  progress.start("measuring", 100);
  clock.advance(seconds(1));
  progress.update(1);
  EXPECT_EQ(out.str(), "\r\x1b[Kmeasuring: step 1 o");
  width = 80;
  clock.advance(seconds(1));
  progress.update(2);
  EXPECT_TRUE(out.str().ends_with("\r\x1b[Kmeasuring: step 2 of 100, 1:38 left"));
}

TEST(Progress, CountsTheItemsOfALongPartOfUnknownLength) {
  std::ostringstream out;
  FakeClock clock;
  Progress progress(out, clock, {.line_interval = seconds(10), .patience = seconds(2)});
  progress.start("planning", 0, "layer");
  clock.advance(seconds(1));
  progress.update(1);
  EXPECT_EQ(out.str(), "");
  clock.advance(seconds(1));
  progress.update(1);
  clock.advance(seconds(9));
  progress.update(6);
  EXPECT_EQ(out.str(), "planning: 1 layer\n");
  clock.advance(seconds(1));
  progress.update(7);
  EXPECT_EQ(out.str(), "planning: 1 layer\nplanning: 7 layers\n");
}

TEST(Terminal, IsOverwrittenOnlyIfItSupportsThat) {
  const int primary = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(primary, 0);
  ASSERT_EQ(grantpt(primary), 0);
  ASSERT_EQ(unlockpt(primary), 0);
  const int terminal = open(ptsname(primary), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  const winsize narrow{.ws_row = 24, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(terminal, TIOCSWINSZ, &narrow), 0);
  EXPECT_TRUE(terminal_at(terminal, "xterm").rewrites);
  EXPECT_EQ(terminal_at(terminal, "xterm").columns(), 20U);
  EXPECT_FALSE(terminal_at(terminal, "dumb").rewrites);
  EXPECT_FALSE(terminal_at(terminal, "").rewrites);
  EXPECT_FALSE(terminal_at(terminal, nullptr).rewrites);
  close(terminal);
  close(primary);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_FALSE(terminal_at(null, "xterm").rewrites);
  EXPECT_EQ(terminal_at(null, "xterm").columns(), 0U);
  close(null);
}

}  // namespace
}  // namespace bench
