#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace bench {

/// Images per second over the steps so far, as printed in the step lines.
struct Speed {
  double mean = 0;
  double uncertainty = 0;  ///< Printed after "+/-": the spread within this run.
  double jitter = 0;
};

/// With t the step times and s = images_per_step / t:
/// - mean: images_per_step over the mean of t, or over their mean weighted by (1 - ewma)^age, the
///   newest step having age 0;
/// - uncertainty: the population standard deviation of s over the square root of their number;
/// - jitter: 1.4826 times the median distance of s from its median.
/// Formulas of tf_cnn_benchmarks. Throws InternalError without a step, for a step that took no
/// time, and for an `ewma` outside 0 to 1.
Speed speed_of_steps(std::int64_t images_per_step, std::span<const std::chrono::nanoseconds> steps,
                     std::optional<double> ewma = std::nullopt);

}  // namespace bench
