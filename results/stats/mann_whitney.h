#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// In how many ways U of m and n different values can be 0, 1, ... m n: the coefficients of the
/// Gaussian binomial, which obey f(u; m, n) = f(u-n; m-1, n) + f(u; m, n-1).
std::vector<double> mann_whitney_counts(std::size_t m, std::size_t n);

/// Two-sided p of the Mann-Whitney test: exact up to m n = 400 (with ties over all permutations of
/// the ranks), beyond that normal with corrections for ties and continuity. 1 for an empty sample.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// How far `b` lies above `a`: the median of all differences (Hodges and Lehmann, 1963) with the
/// interval that the Mann-Whitney test at level `alpha` does not reject. The interval takes no
/// account of ties, which makes it a little longer. Throws InternalError for an empty sample.
Shift hodges_lehmann(std::span<const double> a, std::span<const double> b, double alpha);

/// P(B > A) - P(B < A) of a pair drawn from the samples, -1 to 1.
double cliffs_delta(std::span<const double> a, std::span<const double> b);

}  // namespace bench::results::stats
