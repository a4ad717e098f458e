#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bench::results::stats {

/// The fewest values of a level that a newest value is compared with.
inline constexpr std::size_t kLeastBefore = 8;

struct NewestPointRule {
  double margin = 0.01;  ///< The smallest relative change that matters.
  double alpha = 0.001;
  /// Lower limit of the spread: a few equal runs do not make a series without noise.
  double least_spread = 0;
};

/// The newest value of a series compared with the segment before it.
struct NewestPoint {
  double log_ratio = 0;  ///< Relative to the segment's median.
  double z = 0;          ///< In the segment's spread, including its median's error.
  double limit = 0;      ///< Limit of |z|: Student's t with m - 1 degrees at the rule's level.
  bool suspect = false;  ///< Beyond the limit, and beyond the margin.
};

/// z = (y - median) / (s sqrt(1 + 1/m)), with s the scaled MAD of the segment's m logarithms. Empty
/// for segments of fewer than kLeastBefore.
std::optional<NewestPoint> judge_newest(std::span<const double> segment, double newest,
                                        const NewestPointRule& rule);

}  // namespace bench::results::stats
