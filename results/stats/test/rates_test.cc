#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

#include "models/base/philox.h"
#include "results/stats/change_points.h"
#include "results/stats/mann_whitney.h"
#include "results/stats/multiplicity.h"
#include "results/stats/newest_point.h"
#include "results/stats/signed_rank.h"
#include "results/stats/verdict.h"

/// Measures how often the verdicts are wrong, in simulations with fixed seeds, and prints the
/// rates.
namespace bench::results::stats {
namespace {

constexpr double kAlpha = 0.05;

std::vector<double> runs(RandomStream& random, std::size_t n, double level, double cv) {
  std::vector<double> values(n);
  for (double& value : values) value = level + cv * static_cast<double>(random.normal());
  return values;
}

/// Noise with heavy tails: Student's t with three degrees, scaled to a standard deviation of 1.
double heavy_tailed(RandomStream& random) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const double normal = random.normal();
    squares += normal * normal;
  }
  return static_cast<double>(random.normal()) / std::sqrt(squares);
}

TEST(Rates, EqualSamplesAreRarelyRegressions) {
  for (const double cv : {0.002, 0.005, 0.01, 0.03}) {
    RandomStream random(1, static_cast<std::uint64_t>(cv * 1e4));
    int alone = 0;
    std::vector<Shift> shifts;
    std::vector<double> p;
    for (int i = 0; i < 200; ++i) {
      shifts.push_back(hodges_lehmann(runs(random, 8, 5, cv), runs(random, 8, 5, cv), kAlpha));
      p.push_back(shifts.back().p);
      alone += p.back() <= kAlpha;
    }
    const std::vector<double> q = benjamini_hochberg(p);
    int regressed = 0;
    int after = 0;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const bool bad = judge(shifts[i], {}) == ChangeVerdict::kRegressed;
      regressed += bad;
      after += bad && q[i] <= kAlpha;
    }
    std::cout << "A/A, CV " << 100 * cv << " %: of 200 pairs " << alone << " have p <= 0.05, "
              << regressed << " alone are called regressed, " << after << " in one table\n";
    EXPECT_LE(regressed, 1.3 * kAlpha * 200);
    EXPECT_LE(after, 1.3 * kAlpha * 200);
    // 10 expected, and 6 standard deviations of that.
    EXPECT_LE(alone, 28);
  }
}

TEST(Rates, TwoPerCentLessAreFoundWithEightRuns) {
  RandomStream random(2);
  int unpaired = 0;
  int paired = 0;
  for (int i = 0; i < 400; ++i) {
    const auto a = runs(random, 8, 5, 0.005);
    const auto b = runs(random, 8, 5 + std::log(0.98), 0.005);
    unpaired += judge(hodges_lehmann(a, b, kAlpha), {}) == ChangeVerdict::kRegressed;
    std::vector<double> differences;
    for (std::size_t j = 0; j < a.size(); ++j) differences.push_back(b[j] - a[j]);
    paired += judge(paired_shift(differences, kAlpha), {}) == ChangeVerdict::kRegressed;
  }
  std::cout << "-2 % at CV 0.5 %, 8 runs: found in " << unpaired / 4.0 << " % of pairs of groups, "
            << paired / 4.0 << " % interleaved\n";
  EXPECT_GE(unpaired, 380);
  EXPECT_GE(paired, 380);
}

TEST(Rates, RunsNeededFindTheChangeInFourOfFive) {
  RandomStream random(3);
  const auto n = static_cast<std::size_t>(runs_needed({.spread = 0.02, .margin = 0.02}));
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    found += mann_whitney_p(runs(random, n, 5, 0.02), runs(random, n, 5.02, 0.02)) <= kAlpha;
  }
  std::cout << "need n: with " << n << " per side " << found / 4.0 << " % are significant\n";
  EXPECT_NEAR(found / 400.0, 0.8, 0.08);
}

TEST(Rates, AStepOfThreePerCentIsLocatedWithinTwoPoints) {
  RandomStream random(4);
  const int series = 200;
  int located = 0;
  for (int i = 0; i < series; ++i) {
    const std::size_t at = 8 + random.below(25);
    std::vector<double> values = runs(random, 40, 5, 0.01);
    for (std::size_t j = at; j < values.size(); ++j) values[j] -= 0.03;
    const auto found = change_points(values, {.seed = static_cast<std::uint64_t>(i)});
    located += std::any_of(found.begin(), found.end(), [&](const ChangePoint& point) {
      return std::abs(static_cast<double>(point.at) - static_cast<double>(at)) <= 2 &&
             !point.drift && point.shift.estimate < 0;
    });
  }
  std::cout << "3 % step in 40 points, CV 1 %: within 2 points and no drift in "
            << 100.0 * located / series << " %\n";
  EXPECT_GE(located, 0.9 * series);
}

TEST(Rates, NoiseAloneRarelyChanges) {
  const int series = 1000;
  for (const bool heavy : {false, true}) {
    RandomStream random(5, heavy ? 1 : 0);
    int points = 0;
    int split = 0;
    for (int i = 0; i < series; ++i) {
      std::vector<double> values(40);
      for (double& value : values) {
        value = 5 + 0.01 * (heavy ? heavy_tailed(random) : static_cast<double>(random.normal()));
      }
      const auto seed = static_cast<std::uint64_t>(i);
      points += static_cast<int>(change_points(values, {.seed = seed}).size());
      split += static_cast<int>(change_points(values, {.margin = 0, .seed = seed}).size());
    }
    std::cout << (heavy ? "t3" : "normal") << " noise of 1 %: " << 100.0 * points / series
              << " false change points per 100 series of 40, " << 100.0 * split / series
              << " without a margin\n";
    EXPECT_LE(points, 0.02 * series);
  }
}

TEST(Rates, TheNewestPointIsRarelySuspectedForNothing) {
  RandomStream random(6);
  int suspects = 0;
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto segment = runs(random, 20, 5, 0.01);
    const double newest = 5 + 0.01 * static_cast<double>(random.normal());
    suspects += judge_newest(segment, newest, {})->suspect;
    found += judge_newest(segment, newest - 0.06, {})->suspect;
  }
  std::cout << "newest point: " << suspects / 200.0 << " % suspected for nothing, " << found / 200.0
            << " % of drops by 6 standard deviations found\n";
  // The MAD of 20 points differs from a standard deviation: more than alpha, and confirmed before
  // it counts.
  EXPECT_LE(suspects, 0.006 * 20000);
  EXPECT_GE(found, 0.8 * 20000);
}

}  // namespace
}  // namespace bench::results::stats
