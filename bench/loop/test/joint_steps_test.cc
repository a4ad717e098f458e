#include "bench/loop/joint_steps.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

using std::chrono::nanoseconds;

TEST(JointSteps, LastUntilEachWorkerCouldHaveMadeAnUpdate) {
  JointSteps steps(2, nanoseconds(100));
  steps.report(nanoseconds(110), 1);
  EXPECT_EQ(steps.take(), std::nullopt);
  steps.report(nanoseconds(140), 4);
  EXPECT_EQ(steps.complete(), 2);
  EXPECT_EQ(steps.take(), nanoseconds(20));
  EXPECT_EQ(steps.take(), nanoseconds(20));
  EXPECT_EQ(steps.take(), std::nullopt);
}

TEST(JointSteps, AddUpToTheTimeAtAnyReportThatCompletesOne) {
  JointSteps steps(3, nanoseconds(0));
  nanoseconds sum{};
  for (std::int64_t updates = 1; updates <= 12; ++updates) {
    steps.report(nanoseconds(updates * updates), updates);
    while (const auto duration = steps.take()) {
      sum += *duration;
    }
  }
  EXPECT_EQ(steps.complete(), 4);
  EXPECT_EQ(sum, nanoseconds(144));
}

TEST(JointSteps, OfOneWorkerAreItsOwn) {
  JointSteps steps(1, nanoseconds(0));
  steps.report(nanoseconds(7), 1);
  EXPECT_EQ(steps.take(), nanoseconds(7));
}

}  // namespace
}  // namespace bench
