#include "results/stats/noise_floor.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "results/record/statistics.h"

namespace bench::results::stats {

std::optional<double> noise_floor(std::span<const double> series) {
  if (series.size() < 3) return std::nullopt;
  std::vector<double> steps;
  for (std::size_t i = 1; i < series.size(); ++i)
    steps.push_back(std::abs(series[i] - series[i - 1]));
  return 1.4826 * median(steps) / std::numbers::sqrt2;
}

}  // namespace bench::results::stats
