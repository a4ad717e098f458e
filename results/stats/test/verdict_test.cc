#include "results/stats/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "results/stats/mann_whitney.h"
#include "results/stats/signed_rank.h"

namespace bench::results::stats {
namespace {

/// The verdict on an interval of relative changes around an estimate, in per cent.
ChangeVerdict judged(double low, double estimate, double high, Better better = Better::kHigher) {
  const auto log_of = [](double percent) { return std::log1p(percent / 100); };
  return judge({.estimate = log_of(estimate), .interval = Interval{log_of(low), log_of(high)}},
               {.margin = 0.01, .better = better});
}

TEST(Verdict, IsRegressedOnceTheIntervalIsBeyondTheMargin) {
  EXPECT_EQ(judged(-3.6, -3.1, -2.5), ChangeVerdict::kRegressed);
  EXPECT_EQ(judged(2.5, 3.1, 3.6), ChangeVerdict::kImproved);
}

TEST(Verdict, IsRegressedWhereZeroIsOutAndTheEstimateIsLarge) {
  EXPECT_EQ(judged(-2.5, -1.2, -0.1), ChangeVerdict::kRegressed);
  EXPECT_EQ(judged(0.1, 1.2, 2.5), ChangeVerdict::kImproved);
}

TEST(Verdict, IsEquivalentWithinTheMargin) {
  EXPECT_EQ(judged(-0.2, 0.1, 0.4), ChangeVerdict::kEquivalent);
  EXPECT_EQ(judged(-0.9, -0.5, -0.1), ChangeVerdict::kEquivalent);
}

TEST(Verdict, SignificantButSmallIsEquivalent) {
  EXPECT_EQ(judged(-1.6, -0.8, -0.1), ChangeVerdict::kEquivalent);
}

TEST(Verdict, IsInconclusiveWhereTheIntervalHoldsBoth) {
  EXPECT_EQ(judged(-1.4, 0.8, 3.0), ChangeVerdict::kInconclusive);
  EXPECT_EQ(judge({.estimate = -0.2, .interval = std::nullopt}, {}), ChangeVerdict::kInconclusive);
}

TEST(Verdict, TurnsWhereLessIsBetter) {
  EXPECT_EQ(judged(2.5, 3.1, 3.6, Better::kLower), ChangeVerdict::kRegressed);
  EXPECT_EQ(judged(-3.6, -3.1, -2.5, Better::kLower), ChangeVerdict::kImproved);
  EXPECT_EQ(judged(-3.6, -3.1, -2.5, Better::kNone), ChangeVerdict::kChanged);
}

TEST(RunsNeeded, IsAsSimulated) {
  // Simulated power of 80 % at alpha 0.05: CV 1 % and 1 % take 18 per side, CV 2 % and 5 % 4 or 5.
  EXPECT_NEAR(static_cast<double>(runs_needed({.spread = 0.01, .margin = 0.01})), 18, 1);
  EXPECT_EQ(runs_needed({.spread = 0.02, .margin = 0.02}),
            runs_needed({.spread = 0.01, .margin = 0.01}));
  EXPECT_EQ(runs_needed({.spread = 0.01, .margin = 0.01, .paired = true}), 9);
}

TEST(RunsNeeded, IsAtLeastWhatASignificantResultTakes) {
  EXPECT_EQ(runs_needed({.spread = 0, .margin = 0.01}), 4);
  EXPECT_EQ(runs_needed({.spread = 0, .margin = 0.01, .paired = true}), 6);
}

TEST(LeastRuns, GiveAnIntervalForTheFirstTime) {
  for (const double alpha : {0.2, 0.05, 0.01}) {
    for (const bool paired : {false, true}) {
      const auto has_interval = [&](std::int64_t runs) {
        const std::vector<double> values(static_cast<std::size_t>(runs), 1);
        const Shift shift =
            paired ? paired_shift(values, alpha) : hodges_lehmann(values, values, alpha);
        return shift.interval.has_value();
      };
      const std::int64_t least = least_runs(alpha, paired);
      EXPECT_TRUE(has_interval(least)) << alpha;
      EXPECT_FALSE(has_interval(least - 1)) << alpha;
    }
  }
}

TEST(RelativeChange, IsOfTheRatio) {
  EXPECT_NEAR(relative_change(std::log(1.25)), 0.25, 1e-12);
  EXPECT_NEAR(relative_change(Interval{std::log(0.5), 0}).low, -0.5, 1e-12);
}

}  // namespace
}  // namespace bench::results::stats
