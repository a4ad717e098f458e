#include "bench/terminal/phase_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "results/environment/test/fake_clock.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ThrowsMessage;

struct Watched {
  std::ostringstream out = {};
  FakeClock clock = {};
  bool end_asked = false;
  PhaseWatch phases;

  explicit Watched(bool terminal = false)
      : phases(out, clock, {.rewrites = terminal}, [this] { return end_asked; }) {}
};

TEST(PhaseWatch, PrintsNothingWithinTwoSeconds) {
  Watched run;
  for (int layer = 0; layer < 10; ++layer) {
    run.phases.tell("planning", "layer", layer, 0);
    run.clock.advance(milliseconds(199));
  }
  run.phases.tell("drawing the first values", "part", 0, 4);
  run.clock.advance(seconds(2) - milliseconds(1));
  run.phases.tell("drawing the first values", "part", 1, 4);
  EXPECT_EQ(run.out.str(), "");
}

TEST(PhaseWatch, ShowsHowFarALongPhaseIs) {
  Watched run;
  const Watch watch = run.phases.of("drawing the first values", "part");
  watch(0, 4);
  run.clock.advance(seconds(3));
  watch(1, 4);
  run.clock.advance(seconds(3));
  watch(2, 4);
  run.clock.advance(seconds(9));
  watch(3, 4);
  EXPECT_EQ(run.out.str(),
            "drawing the first values: part 1 of 4, 0:09 left\n"
            "drawing the first values: part 3 of 4, 0:05 left\n");
}

TEST(PhaseWatch, ClearsItsLineAtTheEndOfThePhase) {
  Watched run(true);
  run.phases.tell("calibrating int8", "batch", 0, 2);
  run.clock.advance(seconds(4));
  run.phases.tell("calibrating int8", "batch", 1, 2);
  EXPECT_EQ(run.out.str(), "\r\x1b[Kcalibrating int8: batch 1 of 2, 0:04 left");
  run.phases.tell("calibrating int8", "batch", 2, 2);
  EXPECT_TRUE(run.out.str().ends_with("left\r\x1b[K"));
}

TEST(PhaseWatch, TimesEachPhaseSeparately) {
  Watched run;
  run.phases.tell("planning", "layer", 1, 0);
  run.clock.advance(seconds(5));
  run.phases.clear();
  run.phases.tell("planning", "layer", 2, 0);
  EXPECT_EQ(run.out.str(), "");
}

TEST(PhaseWatch, EndsTheRunBetweenTwoPartsAndSaysWhere) {
  Watched run;
  run.phases.tell("planning", "layer", 1, 0);
  run.phases.stop_if_asked("before the run");
  run.end_asked = true;
  EXPECT_THAT([&] { run.phases.tell("planning", "layer", 2, 0); },
              ThrowsMessage<RunEnded>("while planning"));
  EXPECT_THAT([&] { run.phases.of("drawing", "part")(1, 1); },
              ThrowsMessage<RunEnded>("while drawing"));
  EXPECT_THAT([&] { run.phases.stop_if_asked("before the run"); },
              ThrowsMessage<RunEnded>("before the run"));
}

}  // namespace
}  // namespace bench
