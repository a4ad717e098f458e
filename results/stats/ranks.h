#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::results::stats {

/// Ranks from 1; equal values share their mean rank. All are doubled, so that they are whole.
struct DoubledRanks {
  std::vector<std::int64_t> ranks{};
  bool ties = false;
  double tie_sum = 0;  ///< Sum over groups of t equal values of t^3 - t.
};

DoubledRanks doubled_ranks(std::span<const double> values);

/// The number of ways to choose `choose` of the values, by their sum: entry s counts sum s. The
/// values are not negative.
std::vector<double> subset_sums(std::span<const std::int64_t> values, std::size_t choose);

/// The same for subsets of any size.
std::vector<double> subset_sums(std::span<const std::int64_t> values);

/// Twice the smaller tail of a distribution of counts at entry `at` (itself in both), at most 1.
double two_sided_p(std::span<const double> counts, std::size_t at);

/// The largest c with P(X < c) <= tail, of a distribution of counts over 0, 1, ...
std::size_t lower_critical(std::span<const double> counts, double tail);

}  // namespace bench::results::stats
