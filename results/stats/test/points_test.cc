#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "results/stats/newest_point.h"
#include "results/stats/noise_floor.h"

namespace bench::results::stats {
namespace {

TEST(NoiseFloor, IsNotMovedByAStepOrADrift) {
  std::vector<double> series;
  for (int i = 0; i < 40; ++i) series.push_back(0.01 * (i * 7 % 5 - 2));
  const double quiet = *noise_floor(series);
  for (std::size_t i = 20; i < series.size(); ++i) series[i] += 1;
  EXPECT_NEAR(*noise_floor(series), quiet, 1e-3);
  EXPECT_FALSE(noise_floor(std::vector<double>{1, 2}));
}

TEST(NoiseFloor, IsTheStandardDeviationOfIndependentPoints) {
  // Steps between neighbours of a square wave are 2 or 0: median 2, so 1.4826 * 2 / sqrt(2).
  const std::vector<double> wave = {1, -1, 1, -1, 1, -1};
  EXPECT_NEAR(*noise_floor(wave), 1.4826 * std::sqrt(2), 1e-12);
}

std::vector<double> quiet_segment() {
  return {0.000, 0.004, -0.003, 0.002, -0.005, 0.003, -0.001, 0.001, -0.002};
}

TEST(NewestPoint, FarBeyondTheSegmentIsSuspect) {
  const auto point = judge_newest(quiet_segment(), -0.04, {});
  EXPECT_TRUE(point->suspect);
  EXPECT_NEAR(point->log_ratio, -0.04, 1e-12);
  // Scaled MAD 1.4826 * 0.002, of nine points; t with 8 degrees at 0.9995.
  EXPECT_NEAR(point->z, -0.04 / (1.4826 * 0.002 * std::sqrt(1 + 1.0 / 9)), 1e-9);
  EXPECT_NEAR(point->limit, 5.041, 1e-3);
}

TEST(NewestPoint, WithinNoiseOrMarginIsNot) {
  EXPECT_FALSE(judge_newest(quiet_segment(), -0.011, {})->suspect);
  EXPECT_FALSE(judge_newest(quiet_segment(), -0.04, {.margin = 0.05})->suspect);
}

TEST(NewestPoint, NeedsEightPointsBeforeIt) {
  const std::vector<double> seven(7, 1.0);
  EXPECT_FALSE(judge_newest(seven, 0, {}));
}

TEST(NewestPoint, UsesALeastSpreadForEqualPoints) {
  const std::vector<double> same(10, 0.0);
  EXPECT_TRUE(judge_newest(same, -0.02, {})->suspect);
  EXPECT_FALSE(judge_newest(same, -0.02, {.least_spread = 0.01})->suspect);
}

}  // namespace
}  // namespace bench::results::stats
