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
          "15 points: the control group stopped the run in 7 periods",
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
                          "10 points: the clock fell from 3000 to 2500 MHz"));
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
