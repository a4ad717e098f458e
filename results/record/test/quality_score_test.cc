#include "results/record/quality_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Record fine_record() {
  Record record;
  record.status = Status::kOk;
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{100}},
                    {.name = "step_time.cv", .value = 0.01}};
  return record;
}

TEST(QualityScore, IsFullForAGoodRun) {
  Record record = fine_record();
  add_quality_score(record);
  EXPECT_EQ(record.quality.score.value(), 100);
  EXPECT_THAT(record.quality.deductions, IsEmpty());
}

TEST(QualityScore, SubtractsNothingForUnknownValues) {
  Record record = fine_record();
  record.load.steal_share = Unknown{"no /proc/stat"};
  record.cpu.governor = Unknown{"virtualised"};
  add_quality_score(record);
  EXPECT_EQ(record.quality.score.value(), 100);
}

TEST(QualityScore, ExplainsEachDeduction) {
  Record record = fine_record();
  record.load.busy = std::vector<BusyProcess>{{"cc1plus", 1.25}, {"sshd", 0.25}};
  record.load.steal_share = 0.02;
  record.load.throttling.periods = 7;
  record.cpu.governor = "powersave";
  record.source.dirty = true;
  add_quality_score(record);
  EXPECT_EQ(record.quality.score.value(), 25);
  EXPECT_THAT(
      record.quality.deductions,
      ElementsAre(
          "20 points: other programs used 1.5 processors",
          "20 points: the hypervisor took 2.0 % of the processor time",
          "15 points: the cgroup throttled the run in 7 periods",
          "10 points: the clock governor is 'powersave', not 'performance'",
          "10 points: bench was built from uncommitted changes, which others cannot reproduce"));
}

TEST(QualityScore, JudgesTheSteps) {
  Record record = fine_record();
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{5}},
                    {.name = "step_time.cv", .value = 0.25}};
  record.cpu_watched.mhz = std::vector<double>{3000, 3000, 2500, 2500};
  add_quality_score(record);
  EXPECT_THAT(record.quality.deductions,
              ElementsAre("10 points: too few timed steps: 5, fewer than 30",
                          "10 points: step times vary by 25.0 %",
                          "10 points: the clock varied from 2500 to 3000 MHz"));
}

/// A run of 100 steps of 10 ms, of which one took `longest` seconds.
Record record_with_a_step_of(double longest) {
  Record record = fine_record();
  record.metrics.push_back({.name = "step_time.mean", .value = (0.99 + longest) / 100});
  record.metrics.push_back({.name = "step_time.median", .value = 0.01});
  record.metrics.push_back({.name = "step_time.max", .value = longest});
  return record;
}

TEST(QualityScore, DeductsForARunThatWasStopped) {
  Record record = record_with_a_step_of(4);
  EXPECT_THAT(step_warnings(record),
              ElementsAre("one step took 400 times the median; was the process suspended?"));
  add_quality_score(record);
  EXPECT_EQ(record.quality.score.value(), 80);
  EXPECT_THAT(record.quality.deductions,
              ElementsAre("20 points: one step took 400 times the median"));
}

TEST(QualityScore, WarnsOfAStopAmongSlowSteps) {
  Record record = fine_record();
  const auto steps = [&](double longest) {
    record.metrics = {{.name = "step_time.n", .value = std::int64_t{50}},
                      {.name = "step_time.mean", .value = 1.1},
                      {.name = "step_time.median", .value = 1.0},
                      {.name = "step_time.max", .value = longest}};
    return step_warnings(record);
  };
  EXPECT_THAT(steps(5),
              ElementsAre("one step took 5 times the median; was the process suspended?"));
  EXPECT_THAT(steps(2.9), IsEmpty());
}

TEST(QualityScore, ToleratesALongStepThatHardlyChangesTheSpeed) {
  EXPECT_THAT(step_warnings(record_with_a_step_of(0.09)), IsEmpty());
  Record record = fine_record();
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{10000}},
                    {.name = "step_time.mean", .value = 0.01},
                    {.name = "step_time.median", .value = 0.01},
                    {.name = "step_time.max", .value = 0.2}};
  EXPECT_THAT(step_warnings(record), IsEmpty()) << "0.2 % of the run";
}

TEST(QualityScore, WarnsOfFewSteps) {
  Record record = fine_record();
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{1}}};
  EXPECT_THAT(step_warnings(record),
              ElementsAre(::testing::StartsWith("only 1 step was measured")));
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{29}}};
  EXPECT_THAT(step_warnings(record),
              ElementsAre(::testing::StartsWith("only 29 steps were measured")));
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{30}}};
  EXPECT_THAT(step_warnings(record), IsEmpty());
  record.metrics = {{.name = "step_time.n", .value = std::int64_t{0}}};
  EXPECT_THAT(step_warnings(record), IsEmpty()) << "the run says so elsewhere";
}

TEST(QualityScore, IsZeroForAFailedRunAndNeverNegative) {
  Record record = fine_record();
  record.status = Status::kFailed;
  record.build.build_type = "Debug";
  add_quality_score(record);
  EXPECT_EQ(record.quality.score.value(), 0);
}

}  // namespace
}  // namespace bench::results
