#include "results/stats/mann_whitney.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "models/base/errors.h"
#include "results/record/statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/ranks.h"

namespace bench::results::stats {
namespace {

/// Up to this many pairs, the distribution of U is enumerated.
constexpr std::size_t kExactPairs = 400;

double spread_of_u(double m, double n, double tie_sum) {
  const double all = m + n;
  const double ties = tie_sum / (all * (all - 1));
  return std::sqrt(m * n / 12 * (all + 1 - ties));
}

/// The rank of the interval's lower end among the sorted differences, from 1; 0 without an
/// interval.
std::size_t lower_rank(std::size_t m, std::size_t n, double alpha) {
  if (m * n <= kExactPairs) return lower_critical(mann_whitney_counts(m, n), alpha / 2);
  const auto pairs = static_cast<double>(m * n);
  const double spread = spread_of_u(static_cast<double>(m), static_cast<double>(n), 0);
  const double rank = std::floor(pairs / 2 + normal_quantile(alpha / 2) * spread + 0.5);
  return rank < 1 ? 0 : static_cast<std::size_t>(rank);
}

}  // namespace

std::vector<double> mann_whitney_counts(std::size_t m, std::size_t n) {
  std::vector<double> counts(m * n + 1, 0);
  counts[0] = 1;
  // The product over i of (1 - x^(n+i)) / (1 - x^i); whole numbers at every step.
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t u = counts.size(); u-- > n + i;) counts[u] -= counts[u - n - i];
    for (std::size_t u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  return counts;
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  const std::size_t m = a.size();
  const std::size_t n = b.size();
  if (m == 0 || n == 0) return 1;
  // The test is symmetric, and enumerates subsets of the size of `b`.
  if (m < n) return mann_whitney_p(b, a);
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const DoubledRanks ranked = doubled_ranks(all);
  const auto first_b = ranked.ranks.begin() + static_cast<std::ptrdiff_t>(m);
  const std::int64_t sum = std::accumulate(first_b, ranked.ranks.end(), std::int64_t{0});
  if (m * n > kExactPairs) {
    const double pairs = static_cast<double>(m) * static_cast<double>(n);
    const double u = static_cast<double>(sum) / 2 - static_cast<double>(n * (n + 1)) / 2;
    const double spread =
        spread_of_u(static_cast<double>(m), static_cast<double>(n), ranked.tie_sum);
    const double distance = std::max(0.0, std::abs(u - pairs / 2) - 0.5);
    return spread > 0 ? std::min(1.0, 2 * normal_cdf(-distance / spread)) : 1;
  }
  if (ranked.ties) {
    return two_sided_p(subset_sums(ranked.ranks, n), static_cast<std::size_t>(sum));
  }
  return two_sided_p(mann_whitney_counts(m, n),
                     static_cast<std::size_t>(sum) / 2 - n * (n + 1) / 2);
}

Shift hodges_lehmann(std::span<const double> a, std::span<const double> b, double alpha) {
  check(!a.empty() && !b.empty(), "Hodges-Lehmann shift: a sample is empty");
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double from : a) {
    for (const double to : b) differences.push_back(to - from);
  }
  std::sort(differences.begin(), differences.end());
  Shift shift;
  shift.estimate = median(differences);
  shift.p = mann_whitney_p(a, b);
  const std::size_t c = lower_rank(a.size(), b.size(), alpha);
  if (c > 0 && 2 * c <= differences.size()) {
    shift.interval =
        Interval{.low = differences[c - 1], .high = differences[differences.size() - c]};
  }
  return shift;
}

double cliffs_delta(std::span<const double> a, std::span<const double> b) {
  check(!a.empty() && !b.empty(), "Cliff's delta: a sample is empty");
  double sum = 0;
  for (const double from : a) {
    for (const double to : b) sum += to > from ? 1 : to < from ? -1 : 0;
  }
  return sum / static_cast<double>(a.size() * b.size());
}

}  // namespace bench::results::stats
