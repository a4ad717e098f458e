#include "results/stats/signed_rank.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/errors.h"
#include "results/stats/test/oracle.h"

namespace bench::results::stats {
namespace {

TEST(SignedRank, AgreesWithScipy) {
  for (const auto& one : oracle("signed_rank")) {
    const std::vector<double> d = numbers(one["d"]);
    SCOPED_TRACE(fmt::format("{} differences", d.size()));
    const Shift shift = paired_shift(d, 0.05);
    EXPECT_NEAR(shift.p, one["p"].get<double>(), 1e-9);
    EXPECT_NEAR(shift.estimate, one["estimate"].get<double>(), 1e-9);
    expect_interval(shift.interval, one["interval"]);
  }
}

TEST(SignedRank, AgreesWithAllSignsOfTiedDifferences) {
  for (const auto& one : oracle("signed_rank_ties")) {
    const std::vector<double> d = numbers(one["d"]);
    EXPECT_NEAR(signed_rank_p(d), one["p"].get<double>(), 1e-9) << d.size() << " differences";
  }
}

TEST(SignedRank, NeedsSixPairsForAnInterval) {
  EXPECT_FALSE(paired_shift(std::vector<double>{1, 2, 3, 4, 5}, 0.05).interval);
  EXPECT_EQ(*paired_shift(std::vector<double>{1, 2, 3, 4, 5, 6}, 0.05).interval,
            (Interval{.low = 1, .high = 6}));
  EXPECT_THROW(paired_shift({}, 0.05), InternalError);
}

TEST(SignedRank, FindsNoShiftInZeros) { EXPECT_EQ(signed_rank_p(std::vector<double>(9, 0.0)), 1); }

TEST(TheilSen, AgreesWithScipy) {
  const auto one = oracle("slope");
  EXPECT_NEAR(theil_sen_slope(numbers(one["x"])), one["slope"].get<double>(), 1e-12);
}

}  // namespace
}  // namespace bench::results::stats
