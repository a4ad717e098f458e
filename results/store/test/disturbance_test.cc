#include "results/store/disturbance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "results/record/quality_score.h"
#include "results/store/test/made_record.h"

namespace bench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The causes that a record with this change reports.
std::vector<std::string> causes_after(const std::function<void(Record&)>& change) {
  Record record = made_record();
  change(record);
  return disturbances_of(json_of(record));
}

TEST(Disturbance, IsWhatCostsARunQuality) {
  EXPECT_THAT(causes_after([](Record& record) {
                record.load.busy = std::vector<BusyProcess>{{"make", 0.2}, {"cc1plus", 0.1}};
              }),
              ElementsAre("other programs used the processors"));
  EXPECT_THAT(causes_after([](Record& record) { record.load.lacking_processors = 0.5; }),
              ElementsAre("other programs used the processors"))
      << "a container hides them";
  EXPECT_THAT(causes_after([](Record& record) { record.load.steal_share = 0.02; }),
              ElementsAre("the hypervisor took processor time (steal)"));
  EXPECT_THAT(causes_after([](Record& record) { record.load.throttling.periods = 1; }),
              ElementsAre("the cgroup throttled the run"));
  EXPECT_THAT(causes_after([](Record& record) {
                record.metrics = {{.name = "step_time.n", .value = std::int64_t{100}},
                                  {.name = "step_time.mean", .value = 0.05},
                                  {.name = "step_time.median", .value = 0.01},
                                  {.name = "step_time.max", .value = 4.0}};
              }),
              ElementsAre("one step took many times the median"));
  EXPECT_THAT(causes_after([](Record& record) { record.quality.verdict = Verdict::kInvalid; }),
              ElementsAre("the GPU's verdict is INVALID"));
}

TEST(Disturbance, IsNotWhatARunToleratesOrDoesNotKnow) {
  EXPECT_THAT(disturbances_of(json_of(Record())), IsEmpty());
  EXPECT_THAT(disturbances_of(nlohmann::json()), IsEmpty());
  EXPECT_THAT(causes_after([](Record& record) {
                record.load.busy = std::vector<BusyProcess>{{"sshd", kToleratedProcessors}};
                record.load.lacking_processors = kToleratedProcessors;
                record.load.steal_share = kToleratedSteal;
                record.load.throttling.periods = 0;
                record.quality.verdict = Verdict::kValid;
              }),
              IsEmpty());
}

TEST(Disturbance, OfOneRunInManyIsTolerated) {
  const auto too_many = [](std::size_t disturbed, std::size_t runs) {
    return DisturbedRuns{.runs = runs, .disturbed = disturbed}.too_many();
  };
  EXPECT_FALSE(too_many(0, 0));
  EXPECT_FALSE(too_many(0, 1));
  EXPECT_TRUE(too_many(1, 1));
  EXPECT_TRUE(too_many(1, 2));
  EXPECT_FALSE(too_many(1, 3));
  EXPECT_FALSE(too_many(1, 8));
  EXPECT_TRUE(too_many(2, 8));
  EXPECT_FALSE(too_many(2, 20));
  EXPECT_TRUE(too_many(3, 20));
}

}  // namespace
}  // namespace bench::results
