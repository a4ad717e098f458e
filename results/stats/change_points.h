#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

struct ChangePointOptions {
  std::size_t least = 5;  ///< Of a segment's points.
  double level = 0.01;    ///< p up to which a split is taken.
  int permutations = 999;
  double margin = 0.01;  ///< Relative changes below this are dropped.
  double alpha = 0.05;   ///< Of the intervals.
  std::uint64_t seed = 0;
};

struct ChangePoint {
  std::size_t at = 0;  ///< The first point of the new level.
  double p = 1;        ///< Of the permutation test that found it.
  double p_step = 1;   ///< Mann-Whitney's p of the two segments, times the places it could be at.
  Shift shift{};       ///< New segment against the one before, in logarithms.
  /// A straight line explains it better, together with neighbours that go the same way: there is no
  /// night to name.
  bool drift = false;
};

/// The points at which a series of logarithms changes: E-divisive (Matteson and James, 2014). The
/// series is split where its divergence is largest, as long as a permutation test with a fixed seed
/// finds that unusual, and so on in the parts. What was found is then moved to the best place
/// between its final neighbours and held against them (Hodges and Lehmann), smallest change first:
/// a change below the margin, or whose interval holds 0, is dropped.
std::vector<ChangePoint> change_points(std::span<const double> series,
                                       const ChangePointOptions& options);

}  // namespace bench::results::stats
