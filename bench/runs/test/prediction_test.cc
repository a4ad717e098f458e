#include "bench/runs/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

TEST(PredictSpeeds, UsesTheStepOfTheSlowestRankWithoutCommunication) {
  RunSettings settings;
  settings.workload.model = find_model("lenet");
  settings.workload.batch = 8;
  settings.outputs.record.predicted_ranks = {1, 4};
  SessionResult session;
  session.steps = {milliseconds(50), milliseconds(50)};
  session.wall = milliseconds(100);
  settings.workload.processes = 2;
  const SumTimes sums{.steps = 2,
                      .backward = milliseconds(60),
                      .pieces = {{.bytes = 1000, .ready = milliseconds(60)}}};
  results::World world{.ranks = {{.exposed_communication = 0.02}, {.exposed_communication = 0.01}},
                       .link = results::Link{.bytes_per_second = 1e6}};
  std::ostringstream out;
  predict_speeds(settings, session, sums, world, out);
  ASSERT_EQ(world.predicted.size(), 3U);
  // 50 ms less the 10 ms that the slowest rank waits.
  EXPECT_NEAR(world.predicted[0].images_per_sec, 8 / 0.04, 1e-9);
  EXPECT_NEAR(world.predicted[0].efficiency, 1, 1e-12);
  EXPECT_EQ(world.predicted[1].ranks, 2) << "the number that was measured";
  EXPECT_LT(world.predicted[2].efficiency, 1);
  EXPECT_NEAR(world.predicted[2].images_per_sec, 4 * 200 * world.predicted[2].efficiency, 1e-9);
  EXPECT_THAT(out.str(), HasSubstr("predicted, not measured"));
  EXPECT_THAT(out.str(), HasSubstr("320.00")) << "16 images in 50 ms";
  EXPECT_THAT(out.str(), Not(HasSubstr("unsure")));
}

TEST(PredictSpeeds, DoesNothingUnlessItIsAsked) {
  SessionResult session;
  session.steps = {milliseconds(50)};
  results::World world;
  std::ostringstream out;
  predict_speeds(RunSettings(), session, {.steps = 1}, world, out);
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace bench
