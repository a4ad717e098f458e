#include "results/stats/ranks.h"

#include <algorithm>
#include <numeric>

namespace bench::results::stats {

DoubledRanks doubled_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  DoubledRanks result;
  result.ranks.resize(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) {
      result.ranks[order[i]] = static_cast<std::int64_t>(first + last + 2);
    }
    const auto equal = static_cast<double>(last - first + 1);
    result.tie_sum += equal * equal * equal - equal;
    result.ties = result.ties || last > first;
    first = last + 1;
  }
  return result;
}

std::vector<double> subset_sums(std::span<const std::int64_t> values, std::size_t choose) {
  std::vector<std::int64_t> largest(values.begin(), values.end());
  std::sort(largest.begin(), largest.end(), std::greater<>());
  const std::int64_t top = std::accumulate(
      largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(choose), std::int64_t{0});
  const std::size_t width = static_cast<std::size_t>(top) + 1;
  std::vector<std::vector<double>> ways(choose + 1, std::vector<double>(width, 0));
  ways[0][0] = 1;
  for (const std::int64_t value : values) {
    const auto step = static_cast<std::size_t>(value);
    for (std::size_t taken = choose; taken > 0; --taken) {
      for (std::size_t sum = step; sum < width; ++sum) {
        ways[taken][sum] += ways[taken - 1][sum - step];
      }
    }
  }
  return ways[choose];
}

std::vector<double> subset_sums(std::span<const std::int64_t> values) {
  const std::int64_t top = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  std::vector<double> ways(static_cast<std::size_t>(top) + 1, 0);
  ways[0] = 1;
  for (const std::int64_t value : values) {
    const auto step = static_cast<std::size_t>(value);
    for (std::size_t sum = ways.size(); sum-- > step;) ways[sum] += ways[sum - step];
  }
  return ways;
}

double two_sided_p(std::span<const double> counts, std::size_t at) {
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(at);
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double below = std::accumulate(counts.begin(), middle + 1, 0.0);
  const double above = std::accumulate(middle, counts.end(), 0.0);
  return std::min(1.0, 2 * std::min(below, above) / total);
}

std::size_t lower_critical(std::span<const double> counts, double tail) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double below = 0;
  std::size_t c = 0;
  while (c < counts.size() && (below + counts[c]) / total <= tail) below += counts[c++];
  return c;
}

}  // namespace bench::results::stats
