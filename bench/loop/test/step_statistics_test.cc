#include "bench/loop/step_statistics.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/errors.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Steps = std::vector<nanoseconds>;

const Steps kThree = {milliseconds(100), milliseconds(200), milliseconds(100)};
const Steps kFour = {milliseconds(500), milliseconds(400), milliseconds(250), milliseconds(200)};

// Expected values: 32 / (0.4 / 3); speeds 320, 160, 320.
TEST(SpeedOfSteps, MatchesTheOriginalOnThreeSteps) {
  const Speed speed = speed_of_steps(32, kThree);
  EXPECT_NEAR(speed.mean, 240.0, 1e-9);
  EXPECT_NEAR(speed.uncertainty, 43.5, 0.05);
  EXPECT_NEAR(speed.jitter, 0.0, 1e-9);
}

// Speeds 128, 160, 256, 320.
TEST(SpeedOfSteps, MatchesTheOriginalOnFourSteps) {
  const Speed speed = speed_of_steps(64, kFour);
  EXPECT_NEAR(speed.mean, 189.6, 0.05);
  EXPECT_NEAR(speed.uncertainty, 38.2, 0.05);
  EXPECT_NEAR(speed.jitter, 94.9, 0.05);
}

TEST(SpeedOfSteps, WeighsNewStepsMoreAndOnlyInTheMean) {
  const Speed speed = speed_of_steps(64, kFour, 0.5);
  EXPECT_NEAR(speed.mean, 246.2, 0.05);
  EXPECT_NEAR(speed.uncertainty, 38.2, 0.05);
  EXPECT_NEAR(speed.jitter, 94.9, 0.05);
}

TEST(SpeedOfSteps, TakesTheLimitsOfTheWeight) {
  EXPECT_DOUBLE_EQ(speed_of_steps(64, kFour, 0.0).mean, speed_of_steps(64, kFour).mean);
  EXPECT_DOUBLE_EQ(speed_of_steps(64, kFour, 1.0).mean, 320);
}

TEST(SpeedOfSteps, HasNoSpreadForOneStep) {
  const Speed speed = speed_of_steps(10, Steps{milliseconds(100)});
  EXPECT_NEAR(speed.mean, 100, 1e-9);
  EXPECT_EQ(speed.uncertainty, 0);
  EXPECT_EQ(speed.jitter, 0);
}

TEST(SpeedOfSteps, RefusesWhatHasNoSpeed) {
  EXPECT_THROW(speed_of_steps(1, Steps{}), InternalError);
  EXPECT_THROW(speed_of_steps(1, Steps{nanoseconds(0)}), InternalError);
  EXPECT_THROW(speed_of_steps(1, kFour, 1.5), InternalError);
}

}  // namespace
}  // namespace bench
