#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// The number of ways in which U of m and n different values can be 0, 1, ... m n. These are the
/// coefficients of the Gaussian binomial, with f(u; m, n) = f(u-n; m-1, n) + f(u; m, n-1).
std::vector<double> mann_whitney_counts(std::size_t m, std::size_t n);

/// Two-sided p of the Mann-Whitney test. Exact up to m n = 400, with ties over all permutations of
/// the ranks. Beyond that normal, with corrections for ties and continuity. 1 for an empty sample.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The shift from `a` to `b`: the median of all differences (Hodges and Lehmann, 1963). Its
/// interval holds the shifts that the Mann-Whitney test at level `alpha` does not reject. The
/// interval ignores ties, which makes it a little longer. Throws InternalError for an empty sample.
Shift hodges_lehmann(std::span<const double> a, std::span<const double> b, double alpha);

/// P(B > A) - P(B < A) of a pair drawn from the samples, -1 to 1.
double cliffs_delta(std::span<const double> a, std::span<const double> b);

}  // namespace bench::results::stats
