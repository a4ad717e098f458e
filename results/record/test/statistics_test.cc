#include "results/record/statistics.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/errors.h"

namespace bench::results {
namespace {

using std::chrono::milliseconds;

TEST(Statistics, QuantilesAreLinearBetweenRanks) {
  const std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(median(values), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 1.15);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(Statistics, StandardDeviationIsOfThePopulation) {
  EXPECT_DOUBLE_EQ(population_stddev(std::vector<double>{1, 3}), 1);
}

TEST(Statistics, MadIsNotMovedByOneOutlier) {
  EXPECT_DOUBLE_EQ(scaled_mad(std::vector<double>{1, 2, 3, 4, 1000}), 1.4826);
}

TEST(Statistics, AutocorrelationKnowsAlternationAndTrend) {
  EXPECT_DOUBLE_EQ(*lag1_autocorrelation(std::vector<double>{1, -1, 1, -1}), -0.75);
  EXPECT_DOUBLE_EQ(*lag1_autocorrelation(std::vector<double>{1, 2, 3, 4}), 0.25);
  EXPECT_FALSE(lag1_autocorrelation(std::vector<double>{1, 2}));
  EXPECT_FALSE(lag1_autocorrelation(std::vector<double>{5, 5, 5}));
}

TEST(Statistics, RefusesToSummariseNothing) {
  EXPECT_THROW(mean({}), InternalError);
  EXPECT_THROW(median({}), InternalError);
  EXPECT_THROW(step_time_statistics({}), InternalError);
  EXPECT_THROW(quantile(std::vector<double>{1}, 1.5), InternalError);
}

TEST(StepTimeStatistics, IsInSeconds) {
  const std::vector<std::chrono::nanoseconds> steps = {milliseconds(100), milliseconds(200),
                                                       milliseconds(300), milliseconds(400)};
  const StepTimeStatistics s = step_time_statistics(steps);
  EXPECT_EQ(s.n, 4);
  EXPECT_DOUBLE_EQ(s.mean, 0.25);
  EXPECT_DOUBLE_EQ(s.median, 0.25);
  EXPECT_DOUBLE_EQ(s.min, 0.1);
  EXPECT_DOUBLE_EQ(s.max, 0.4);
  EXPECT_NEAR(s.p5, 0.115, 1e-12);
  EXPECT_NEAR(s.p90, 0.37, 1e-12);
  EXPECT_NEAR(s.p95, 0.385, 1e-12);
  EXPECT_NEAR(s.p99, 0.397, 1e-12);
  EXPECT_NEAR(s.mad, 0.14826, 1e-12);
  EXPECT_NEAR(s.cv, 0.4472135954999579, 1e-12);
  EXPECT_NEAR(*s.acf1, 0.25, 1e-12);
  EXPECT_NEAR(*s.n_eff, 4 * 0.75 / 1.25, 1e-12);
}

}  // namespace
}  // namespace bench::results
