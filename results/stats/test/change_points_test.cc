#include "results/stats/change_points.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/philox.h"
#include "results/stats/energy.h"
#include "results/stats/test/oracle.h"

namespace bench::results::stats {
namespace {

/// Normal noise of 1 % around the levels, each with its number of points.
std::vector<double> series_of(const std::vector<std::pair<std::size_t, double>>& levels,
                              std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<double> series;
  for (const auto& [points, level] : levels) {
    for (std::size_t i = 0; i < points; ++i) {
      series.push_back(level + 0.01 * static_cast<double>(random.normal()));
    }
  }
  return series;
}

TEST(Energy, BestSplitFollowsTheDefinition) {
  for (const auto& one : oracle("split")) {
    const Split split = best_split(numbers(one["x"]), 5);
    EXPECT_EQ(split.at, one["at"].get<std::size_t>());
    EXPECT_EQ(split.end, one["end"].get<std::size_t>());
    EXPECT_NEAR(static_cast<double>(split.q), one["q"].get<double>(), 1e-4);
  }
}

TEST(Energy, AShortSeriesHasNoSplit) {
  const std::vector<double> nine = {1, 1, 1, 1, 9, 9, 9, 9, 9};
  EXPECT_EQ(best_split(nine, 5).at, 0);
  EXPECT_EQ(split_p(nine, best_split(nine, 5), {}), 1);
}

TEST(Energy, PermutationsOfASeriesWithoutNoiseSplitAsMuch) {
  const std::vector<double> flat(20, 3.0);
  EXPECT_EQ(split_p(flat, best_split(flat, 5), {}), 1);
  EXPECT_TRUE(change_points(flat, {.margin = 0}).empty());
}

TEST(Energy, PermutationTestDoesNotDependOnScale) {
  std::vector<double> series = series_of({{20, 0}, {20, 0.02}}, 3);
  const double p = split_p(series, best_split(series, 5), {});
  for (double& value : series) value = 1e6 + 1000 * value;
  EXPECT_NEAR(split_p(series, best_split(series, 5), {}), p, 0.002);
  EXPECT_LE(p, 0.01);
}

TEST(ChangePoints, TwoNearChangesAreBothFound) {
  const auto found = change_points(series_of({{30, 0}, {8, -0.05}, {30, 0}}, 4), {});
  ASSERT_EQ(found.size(), 2);
  EXPECT_NEAR(static_cast<double>(found[0].at), 30, 1);
  EXPECT_NEAR(static_cast<double>(found[1].at), 38, 1);
  EXPECT_NEAR(found[0].shift.estimate, -0.05, 0.01);
  EXPECT_NEAR(found[1].shift.estimate, 0.05, 0.01);
  EXPECT_FALSE(found[0].drift);
}

TEST(ChangePoints, ThreePointsAtTheEndAreNotMixedWithThoseBefore) {
  const auto found = change_points(series_of({{20, 0}, {3, -0.08}}, 8), {});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].at, 20);
}

TEST(ChangePoints, ASmallChangeIsDropped) {
  std::vector<double> series = series_of({{40, 0}, {40, 0.02}}, 5);
  for (double& value : series) value /= 4;
  EXPECT_TRUE(change_points(series, {.margin = 0.01}).empty());
  EXPECT_EQ(change_points(series, {.margin = 0.001}).size(), 1);
}

TEST(ChangePoints, ASlowSlideIsDrift) {
  std::vector<double> series = series_of({{80, 0}}, 6);
  for (std::size_t i = 0; i < series.size(); ++i) series[i] -= 0.001 * static_cast<double>(i);
  const auto found = change_points(series, {});
  ASSERT_FALSE(found.empty());
  for (const ChangePoint& point : found) EXPECT_TRUE(point.drift) << point.at;
}

TEST(ChangePoints, AreTheSameEachTime) {
  const std::vector<double> series = series_of({{25, 0}, {25, 0.03}}, 7);
  const auto once = change_points(series, {.seed = 9});
  const auto again = change_points(series, {.seed = 9});
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].at, again[i].at);
    EXPECT_EQ(once[i].p, again[i].p);
  }
}

TEST(ChangePoints, AreAbsentInAnEmptySeries) { EXPECT_TRUE(change_points({}, {}).empty()); }

}  // namespace
}  // namespace bench::results::stats
