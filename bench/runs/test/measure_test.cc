#include "bench/runs/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/runs/test/small_run.h"

namespace bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// Prepares a small run and measures it.
class SmallMeasurement {
 public:
  explicit SmallMeasurement(const std::vector<std::string_view>& more = {})
      : small(more), begun(small.begin()), prepared(prepare(begun, small.host)) {}
  Measured operator()() { return measure(begun, prepared.value(), small.host); }
  results::Record& record() { return begun.file.record(); }

  SmallRun small;
  Begun begun;
  std::optional<Prepared> prepared;
};

TEST(Measure, TimesTheStepsAndPutsThemIntoTheRecord) {
  SmallMeasurement measurement;
  const Measured measured = measurement();
  EXPECT_TRUE(measured.attempt.succeeded());
  EXPECT_THAT(measured.session.steps, SizeIs(3));
  EXPECT_EQ(measured.session.stop, Stop::complete);
  EXPECT_EQ(measurement.record().series.step_ns, measured.session.steps);
  EXPECT_EQ(measurement.record().series.loss, measured.session.losses);
  EXPECT_EQ(measurement.record().workload.warmup, 1);
  EXPECT_THAT(measurement.small.out(), HasSubstr("total images/sec: "));
}

TEST(Measure, LeavesTheWorkloadAloneIfTheTimeEndsTheWarmUp) {
  SmallMeasurement measurement({"--num_warmup_batches=5", "--max_seconds=1e-6"});
  EXPECT_EQ(measurement().session.warmup_steps, 2);
  EXPECT_EQ(measurement.record().workload.warmup, 5);
}

TEST(Measure, KeepsWhatWasMeasuredUntilALossThatIsNotFinite) {
  SmallMeasurement measurement({"--init_learning_rate=1e30", "--num_warmup_batches=0"});
  const Measured measured = measurement();
  EXPECT_THAT(measured.attempt.reason(), HasSubstr("the loss is "));
  EXPECT_LT(measured.session.steps.size(), 3U);
  EXPECT_EQ(measurement.record().series.step_ns, measured.session.steps);
  EXPECT_THAT(measurement.small.out(), Not(HasSubstr("total images/sec")));
}

TEST(Measure, EndsAfterTheCurrentStepIfTheOutputIsClosed) {
  SmallMeasurement measurement;
  measurement.small.close_output();
  const Measured measured = measurement();
  EXPECT_EQ(measured.session.stop, Stop::interrupted);
  EXPECT_TRUE(measured.attempt.succeeded());
  EXPECT_EQ(measured.session.global_steps(), 1);
}

TEST(Measure, WarnsOfFewSteps) {
  SmallMeasurement measurement;
  measurement();
  EXPECT_THAT(measurement.record().quality.warnings,
              Contains(HasSubstr("only 3 steps were measured")));
}

TEST(Measure, OmitsThePeakMemoryOfAnEarlierRun) {
  SmallMeasurement measurement;
  measurement.begun.begin.peak_is_own = false;
  const Measured measured = measurement();
  ASSERT_FALSE(measured.peak_rss.known());
  EXPECT_THAT(measured.peak_rss.why(), HasSubstr("after an earlier run"));
}

}  // namespace
}  // namespace bench
