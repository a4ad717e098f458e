#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::results::stats {

/// The largest change of a series: [0, at) against [at, end).
struct Split {
  std::size_t at = 0;   ///< 0 if the series is too short for two parts.
  std::size_t end = 0;  ///< The right part's end; at most the end of the series.
  float q = 0;          ///< The divergence.
};

/// The split with the largest divergence of Matteson and James ("A nonparametric approach for
/// multiple change point analysis", 2014), with exponent 1. The two parts have the m values X and
/// the n values Y.
///     Q = m n / (m + n) (2 E|X-Y| - E|X-X'| - E|Y-Y'|)
/// The search covers `at` and `end`, so that one of two close changes does not hide the other.
/// Neither part is shorter than `least` (at least 2).
Split best_split(std::span<const double> values, std::size_t least);

struct PermutationTest {
  std::size_t least = 5;  ///< Fewest values of a part.
  int permutations = 999;
  int enough_exceedances = 20;  ///< This many larger divergences end the test early.
  int clear_after = 199;        ///< This many permutations without one end it too.
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// The p value of a split: how often the same values in random order split as much. It is (1 +
/// exceedances) / (1 + permutations) over the permutations made until a rule ended the test. If
/// `enough_exceedances` ended it, it is exceedances / permutations.
double split_p(std::span<const double> values, const Split& split, const PermutationTest& test);

}  // namespace bench::results::stats
