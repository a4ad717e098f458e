#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::results::stats {

/// Where a series changes most: [0, at) against [at, end).
struct Split {
  std::size_t at = 0;   ///< 0 where the series is too short for two parts.
  std::size_t end = 0;  ///< The right part's end; it may lie before the series' own.
  float q = 0;          ///< The divergence.
};

/// The split with the largest divergence of Matteson and James ("A nonparametric approach for
/// multiple change point analysis", 2014), exponent 1: with X and Y the m and n values of the two
/// parts, Q = m n / (m + n) (2 E|X-Y| - E|X-X'| - E|Y-Y'|). It is sought over `at` and `end`, so
/// that of two changes close together one does not hide the other. Neither part is shorter than
/// `least` (at least 2).
Split best_split(std::span<const double> values, std::size_t least);

struct PermutationTest {
  std::size_t least = 5;  ///< Of a part's values.
  int permutations = 999;
  int enough_exceedances = 20;  ///< So many larger divergences end the test early.
  int clear_after = 199;        ///< So many without one end it too.
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// How often a series of the same values in random order splits as much: (1 + exceedances) / (1 +
/// permutations), of those made until one of the rules ended the test; with `enough_exceedances`
/// these over the permutations.
double split_p(std::span<const double> values, const Split& split, const PermutationTest& test);

}  // namespace bench::results::stats
