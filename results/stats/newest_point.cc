#include "results/stats/newest_point.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "results/record/statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/verdict.h"

namespace bench::results::stats {

std::optional<NewestPoint> judge_newest(std::span<const double> segment, double newest,
                                        const NewestPointRule& rule) {
  if (segment.size() < kLeastBefore) return std::nullopt;
  const auto m = static_cast<double>(segment.size());
  NewestPoint point;
  point.log_ratio = newest - median(segment);
  const double spread = std::max(scaled_mad(segment), rule.least_spread) * std::sqrt(1 + 1 / m);
  if (spread > 0) {
    point.z = point.log_ratio / spread;
  } else if (point.log_ratio != 0) {
    point.z = std::copysign(std::numeric_limits<double>::infinity(), point.log_ratio);
  }
  point.limit = student_quantile(1 - rule.alpha / 2, m - 1);
  point.suspect =
      std::abs(point.z) > point.limit && std::abs(relative_change(point.log_ratio)) >= rule.margin;
  return point;
}

}  // namespace bench::results::stats
