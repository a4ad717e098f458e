#include "results/stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "models/base/errors.h"
#include "results/record/statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/ranks.h"

namespace bench::results::stats {
namespace {

/// Up to this many differences, the distribution is enumerated.
constexpr std::size_t kExactDifferences = 60;

double spread_of_rank_sum(double n, double tie_sum) {
  return std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - tie_sum / 48);
}

std::size_t lower_walsh_rank(std::size_t n, double alpha) {
  if (n <= kExactDifferences) return lower_critical(signed_rank_counts(n), alpha / 2);
  const auto count = static_cast<double>(n);
  const double middle = count * (count + 1) / 4;
  const double rank =
      std::floor(middle + normal_quantile(alpha / 2) * spread_of_rank_sum(count, 0) + 0.5);
  return rank < 1 ? 0 : static_cast<std::size_t>(rank);
}

}  // namespace

std::vector<double> signed_rank_counts(std::size_t n) {
  std::vector<std::int64_t> ranks(n);
  std::iota(ranks.begin(), ranks.end(), std::int64_t{1});
  return subset_sums(ranks);
}

double signed_rank_p(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    positive.push_back(difference > 0);
  }
  const std::size_t n = sizes.size();
  if (n == 0) return 1;
  const DoubledRanks ranked = doubled_ranks(sizes);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += positive[i] ? ranked.ranks[i] : 0;
  if (n <= kExactDifferences) {
    return two_sided_p(subset_sums(ranked.ranks), static_cast<std::size_t>(sum));
  }
  const auto count = static_cast<double>(n);
  const double distance = std::abs(static_cast<double>(sum) / 2 - count * (count + 1) / 4) - 0.5;
  return std::min(
      1.0, 2 * normal_cdf(-std::max(0.0, distance) / spread_of_rank_sum(count, ranked.tie_sum)));
}

Shift paired_shift(std::span<const double> differences, double alpha) {
  check(!differences.empty(), "signed-rank shift: no pairs");
  std::vector<double> means;
  means.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      means.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::sort(means.begin(), means.end());
  Shift shift;
  shift.estimate = median(means);
  shift.p = signed_rank_p(differences);
  const std::size_t c = lower_walsh_rank(differences.size(), alpha);
  if (c > 0 && 2 * c <= means.size()) {
    shift.interval = Interval{.low = means[c - 1], .high = means[means.size() - c]};
  }
  return shift;
}

double theil_sen_slope(std::span<const double> values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return slopes.empty() ? 0 : median(slopes);
}

}  // namespace bench::results::stats
