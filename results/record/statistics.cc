#include "results/record/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "models/base/errors.h"

namespace bench::results {
namespace {

double sorted_quantile(std::span<const double> sorted, double p) {
  check(!sorted.empty(), "quantile: no values");
  check(p >= 0 && p <= 1, "quantile: p is outside 0 to 1");
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], rank - static_cast<double>(below));
}

/// The quantile of values whose order may change. Takes linear time, because a run prints the
/// statistics of all its steps again and again.
double quantile_of(std::vector<double> values, double p) {
  check(!values.empty(), "quantile: no values");
  check(p >= 0 && p <= 1, "quantile: p is outside 0 to 1");
  const double rank = p * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), below, values.end());
  const auto above = std::min_element(below + 1, values.end());
  return std::lerp(*below, above == values.end() ? *below : *above,
                   rank - static_cast<double>(below - values.begin()));
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double mean(std::span<const double> values) {
  check(!values.empty(), "mean: no values");
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double population_stddev(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double quantile(std::span<const double> values, double p) {
  return quantile_of({values.begin(), values.end()}, p);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double scaled_mad(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return 1.4826 * quantile_of(std::move(distances), 0.5);
}

std::optional<double> lag1_autocorrelation(std::span<const double> values) {
  const double centre = mean(values);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - centre) * (values[i] - centre);
    if (i > 0) products += (values[i] - centre) * (values[i - 1] - centre);
  }
  if (values.size() < 3 || squares == 0) return std::nullopt;
  return products / squares;
}

StepTimeStatistics step_time_statistics(std::span<const std::chrono::nanoseconds> steps) {
  std::vector<double> seconds;
  seconds.reserve(steps.size());
  for (const auto step : steps) seconds.push_back(std::chrono::duration<double>(step).count());
  const std::vector<double> sorted = sorted_copy(seconds);
  const double centre = mean(seconds);
  const auto n = static_cast<std::int64_t>(seconds.size());
  StepTimeStatistics out{.n = n,
                         .mean = centre,
                         .median = sorted_quantile(sorted, 0.5),
                         .p5 = sorted_quantile(sorted, 0.05),
                         .p90 = sorted_quantile(sorted, 0.9),
                         .p95 = sorted_quantile(sorted, 0.95),
                         .p99 = sorted_quantile(sorted, 0.99),
                         .min = sorted.front(),
                         .max = sorted.back(),
                         .mad = scaled_mad(seconds),
                         .cv = centre > 0 ? population_stddev(seconds) / centre : 0,
                         .acf1 = lag1_autocorrelation(seconds),
                         .n_eff = {}};
  if (out.acf1) out.n_eff = static_cast<double>(n) * (1 - *out.acf1) / (1 + *out.acf1);
  return out;
}

}  // namespace bench::results
