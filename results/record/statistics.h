#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace bench::results {

/// Arithmetic mean. All functions here throw InternalError for an empty range.
double mean(std::span<const double> values);

/// Standard deviation of the whole population (divided by n).
double population_stddev(std::span<const double> values);

/// The `p` quantile, 0 <= p <= 1, linear between neighbours in rank (type 7 of Hyndman and Fan,
/// "Sample Quantiles in Statistical Packages", 1996).
double quantile(std::span<const double> values, double p);

/// quantile(values, 0.5).
double median(std::span<const double> values);

/// 1.4826 times the median distance from the median: an estimate of the standard deviation that a
/// few outliers cannot move.
double scaled_mad(std::span<const double> values);

/// Correlation of each value with the next one. Empty for fewer than three values or no spread.
std::optional<double> lag1_autocorrelation(std::span<const double> values);

/// Times of single steps, in seconds.
struct StepTimeStatistics {
  std::int64_t n = 0;
  double mean = 0;
  double median = 0;
  double p5 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
  double mad = 0;  ///< scaled_mad.
  double cv = 0;   ///< population_stddev / mean.
  std::optional<double> acf1;
  std::optional<double> n_eff;  ///< n (1 - acf1) / (1 + acf1): equivalent independent steps.
};

/// Throws InternalError without steps.
StepTimeStatistics step_time_statistics(std::span<const std::chrono::nanoseconds> steps);

}  // namespace bench::results
