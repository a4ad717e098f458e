#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

struct ChangePointOptions {
  std::size_t least = 5;  ///< Fewest points of a segment.
  double level = 0.01;    ///< Largest p of an accepted split.
  int permutations = 999;
  double margin = 0.01;  ///< Relative changes below this are dropped.
  double alpha = 0.05;   ///< Level of the intervals.
  std::uint64_t seed = 0;
};

struct ChangePoint {
  std::size_t at = 0;  ///< The first point of the new level.
  double p = 1;        ///< p of the permutation test that found it.
  double p_step = 1;   ///< Mann-Whitney's p of the two segments, times the places it could be at.
  Shift shift{};       ///< New segment against the previous one, in logarithms.
  /// A straight line explains this change better, together with neighbours of the same direction.
  /// It has no single point.
  bool drift = false;
};

/// The points at which a series of logarithms changes: E-divisive (Matteson and James, 2014). It
/// splits the series where its divergence is largest, then splits the parts. Each split must be
/// unusual by a permutation test with a fixed seed. It then moves each change to the best place
/// between its neighbours and compares the two segments (Hodges and Lehmann), smallest change
/// first. It drops changes below the margin, and changes whose interval holds 0.
std::vector<ChangePoint> change_points(std::span<const double> series,
                                       const ChangePointOptions& options);

}  // namespace bench::results::stats
