#include "results/stats/mann_whitney.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "models/base/errors.h"
#include "results/stats/test/oracle.h"

namespace bench::results::stats {
namespace {

TEST(MannWhitney, AgreesWithScipy) {
  for (const auto& one : oracle("mann_whitney")) {
    const std::vector<double> a = numbers(one["a"]);
    const std::vector<double> b = numbers(one["b"]);
    SCOPED_TRACE(fmt::format("{} against {}", a.size(), b.size()));
    EXPECT_NEAR(mann_whitney_p(a, b), one["p"].get<double>(), 1e-9);
    EXPECT_NEAR(mann_whitney_p(b, a), one["p"].get<double>(), 1e-9);
    EXPECT_NEAR(cliffs_delta(a, b), one["delta"].get<double>(), 1e-12);
  }
}

TEST(MannWhitney, AgreesWithAllPermutationsOfTiedRanks) {
  for (const auto& one : oracle("mann_whitney_ties")) {
    const std::vector<double> a = numbers(one["a"]);
    const std::vector<double> b = numbers(one["b"]);
    SCOPED_TRACE(fmt::format("{} against {}", a.size(), b.size()));
    EXPECT_NEAR(mann_whitney_p(a, b), one["p"].get<double>(), 1e-9);
  }
}

TEST(MannWhitney, CountsObeyTheirRecurrence) {
  const auto at = [](const std::vector<double>& counts, std::size_t u) {
    return u < counts.size() ? counts[u] : 0;
  };
  const std::size_t m = 7;
  const std::size_t n = 5;
  const std::vector<double> counts = mann_whitney_counts(m, n);
  for (std::size_t u = 0; u < counts.size(); ++u) {
    const double one_less = u >= n ? at(mann_whitney_counts(m - 1, n), u - n) : 0;
    EXPECT_EQ(counts[u], one_less + at(mann_whitney_counts(m, n - 1), u)) << u;
  }
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 792);  // 12 choose 5.
}

TEST(MannWhitney, CannotReachFivePercentWithThreeRunsEach) {
  const std::vector<double> a = {1, 2, 3};
  const std::vector<double> b = {11, 12, 13};
  EXPECT_NEAR(mann_whitney_p(a, b), 0.1, 1e-12);
  EXPECT_FALSE(hodges_lehmann(a, b, 0.05).interval);
}

TEST(HodgesLehmann, IntervalIsOfTheShiftsThatScipysTestDoesNotReject) {
  for (const auto& one : oracle("mann_whitney")) {
    const std::vector<double> a = numbers(one["a"]);
    const std::vector<double> b = numbers(one["b"]);
    SCOPED_TRACE(fmt::format("{} against {}", a.size(), b.size()));
    const Shift shift = hodges_lehmann(a, b, 0.05);
    EXPECT_NEAR(shift.estimate, one["estimate"].get<double>(), 1e-9);
    if (one.contains("interval")) expect_interval(shift.interval, one["interval"]);
  }
}

TEST(HodgesLehmann, IntervalOfManyPairsIsCloseToThatOfTheMean) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 41; ++i) {
    a.push_back(i * 37 % 41);
    b.push_back(i * 23 % 41 + 10.5);
  }
  const Shift shift = hodges_lehmann(a, b, 0.05);
  EXPECT_NEAR(shift.estimate, 10.5, 1);
  // Uniform values of 41 numbers: 1.96 * 11.8 * sqrt(2 / 41) = 5.1.
  EXPECT_NEAR(shift.interval->low, 10.5 - 5.1, 1);
  EXPECT_NEAR(shift.interval->high, 10.5 + 5.1, 1);
}

TEST(HodgesLehmann, IsZeroForEqualSamples) {
  const std::vector<double> same(8, 3.5);
  const Shift shift = hodges_lehmann(same, same, 0.05);
  EXPECT_EQ(shift.estimate, 0);
  EXPECT_EQ(shift.p, 1);
  EXPECT_EQ(*shift.interval, (Interval{.low = 0, .high = 0}));
  EXPECT_THROW(hodges_lehmann(same, {}, 0.05), InternalError);
}

}  // namespace
}  // namespace bench::results::stats
