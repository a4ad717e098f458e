#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// The interval of the median from order statistics: [x(k), x(n+1-k)]. The largest k is used for
/// which two tails of the fair binomial hold at most `alpha`. Empty if there are too few values
/// (fewer than 6 for 95 %).
std::optional<Interval> median_interval(std::span<const double> values, double alpha);

/// A group of runs of the same workload.
struct GroupSummary {
  std::size_t n = 0;
  double median = 0;
  std::optional<Interval> interval{};  ///< From median_interval.
  double min = 0;
  double max = 0;
  double mad = 0;                ///< scaled_mad: an estimate of the standard deviation.
  std::optional<double> cv{};    ///< Sample standard deviation / mean; empty below 2 values.
  std::optional<double> half{};  ///< Half the interval / median; empty without an interval.
};

/// Throws InternalError for an empty range.
GroupSummary group_summary(std::span<const double> values, double alpha = 0.05);

/// Sample standard deviation (divided by n - 1); 0 below two values.
double sample_stddev(std::span<const double> values);

}  // namespace bench::results::stats
