#pragma once

#include <optional>
#include <span>

namespace bench::results::stats {

struct NewestPointRule {
  double margin = 0.01;  ///< The smallest relative change that matters.
  double alpha = 0.001;
  /// What the spread is at least: a few equal nights do not make a series without noise.
  double least_spread = 0;
};

/// How the newest value of a series stands to the segment before it.
struct NewestPoint {
  double log_ratio = 0;  ///< To the segment's median.
  double z = 0;          ///< By the segment's spread, its median's error included.
  double limit = 0;      ///< Of |z|: Student's t with m - 1 degrees at the rule's level.
  bool suspect = false;  ///< Beyond the limit, and beyond the margin.
};

/// z = (y - median) / (s sqrt(1 + 1/m)), with s the scaled MAD of the segment's m logarithms. None
/// for segments of fewer than 8.
std::optional<NewestPoint> judge_newest(std::span<const double> segment, double newest,
                                        const NewestPointRule& rule);

}  // namespace bench::results::stats
