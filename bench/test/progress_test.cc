#include "bench/progress.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>

#include "bench/test/fake_clock.h"

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

TEST(Progress, WritesOverItsLineOnATerminalAndTakesItAwayInTheEnd) {
  std::ostringstream out;
  FakeClock clock;
  {
    Progress progress(out, clock, {.terminal = true, .terminal_interval = milliseconds(200)});
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
  Progress progress(out, clock, {.terminal = true});
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

}  // namespace
}  // namespace bench
