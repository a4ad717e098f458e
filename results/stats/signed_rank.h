#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// The number of ways in which the ranks 1 ... n of the positive differences can sum to 0, 1, ...
/// n(n+1)/2.
std::vector<double> signed_rank_counts(std::size_t n);

/// Two-sided p of Wilcoxon's signed-rank test of paired differences. Exact up to 60 differences,
/// with ties over all choices of signs. Beyond that normal, with corrections for ties and
/// continuity. Omits differences of 0; 1 if nothing remains.
double signed_rank_p(std::span<const double> differences);

/// The shift of paired differences from 0: the median of the means of all pairs of them (Walsh
/// averages), including each with itself. Its interval holds the shifts that the signed-rank test
/// at level `alpha` does not reject. Throws InternalError without differences.
Shift paired_shift(std::span<const double> differences, double alpha);

/// The change of the values per place in their order: the median slope between two of them (Theil
/// 1950, Sen 1968). 0 below two values.
double theil_sen_slope(std::span<const double> values);

}  // namespace bench::results::stats
