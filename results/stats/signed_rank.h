#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// In how many ways the ranks 1 ... n of the positive differences can sum to 0, 1, ... n(n+1)/2.
std::vector<double> signed_rank_counts(std::size_t n);

/// Two-sided p of Wilcoxon's signed-rank test of paired differences: exact up to 60 of them (with
/// ties over all choices of signs), beyond that normal with corrections for ties and continuity.
/// Differences of 0 are left out; 1 when nothing is left.
double signed_rank_p(std::span<const double> differences);

/// How far paired differences lie above 0: the median of all means of two of them (Walsh averages,
/// each with itself too), with the interval that the signed-rank test at level `alpha` does not
/// reject. Throws InternalError for none.
Shift paired_shift(std::span<const double> differences, double alpha);

/// The change of the values per place in their order: the median slope between two of them (Theil
/// 1950, Sen 1968). 0 below two values.
double theil_sen_slope(std::span<const double> values);

}  // namespace bench::results::stats
