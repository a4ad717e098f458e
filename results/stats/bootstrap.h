#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// Runs in outer groups (days, machines); a sample without outer groups has one.
using Nested = std::vector<std::vector<double>>;

/// A statistic of several samples, such as the difference of two medians.
using NestedStatistic = std::function<double(std::span<const Nested>)>;

struct BootstrapOptions {
  int replicates = 4999;
  double alpha = 0.05;
  std::uint64_t seed =
      0;  ///< For example hash_name of the runs' ids: the same data, the same interval.
};

struct BootstrapResult {
  double estimate = 0;
  Interval interval{};
  double p = 1;  ///< Two-sided, for 0: twice the smaller share of replicates on one side of it.
};

/// The BCa interval of a statistic (Efron, "Better bootstrap confidence intervals", 1987). In each
/// replicate, every sample draws its outer groups with replacement, then each group its runs. The
/// acceleration omits one outer group at a time, or one run for a sample with one group. Throws
/// InternalError for an empty sample or group.
BootstrapResult hierarchical_bootstrap(std::span<const Nested> samples,
                                       const NestedStatistic& statistic,
                                       const BootstrapOptions& options);

/// The median of all runs of the second sample minus that of the first.
double difference_of_medians(std::span<const Nested> samples);

}  // namespace bench::results::stats
