#include "results/stats/group_summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/errors.h"
#include "results/record/statistics.h"
#include "results/stats/distributions.h"

namespace bench::results::stats {

std::optional<Interval> median_interval(std::span<const double> values, double alpha) {
  const int n = static_cast<int>(values.size());
  int k = 0;
  while (k < n / 2 && fair_binomial_cdf(k, n) <= alpha / 2) ++k;
  if (k == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{.low = sorted[static_cast<std::size_t>(k - 1)],
                  .high = sorted[static_cast<std::size_t>(n - k)]};
}

double sample_stddev(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  return population_stddev(values) * std::sqrt(n / (n - 1));
}

GroupSummary group_summary(std::span<const double> values, double alpha) {
  check(!values.empty(), "group summary: no values");
  GroupSummary summary;
  summary.n = values.size();
  summary.median = median(values);
  summary.interval = median_interval(values, alpha);
  summary.min = *std::min_element(values.begin(), values.end());
  summary.max = *std::max_element(values.begin(), values.end());
  summary.mad = scaled_mad(values);
  if (values.size() > 1 && mean(values) != 0) summary.cv = sample_stddev(values) / mean(values);
  if (summary.interval && summary.median != 0) {
    summary.half = (summary.interval->high - summary.interval->low) / 2 / summary.median;
  }
  return summary;
}

}  // namespace bench::results::stats
