#pragma once

#include <cstdint>

#include "kernels/cuda/runtime.h"

namespace bench::cuda {

/// Means and biased variances from sums and sums of squares, in their place.
struct FinishStatistics {
  std::int64_t channels = 0;
  /// How many elements each sum is of.
  std::int64_t count = 1;
  /// Of the elements; then their mean.
  float* mean = nullptr;
  /// Of their squares; then the variance.
  float* variance = nullptr;
};
/// variance = squares / count - mean^2, never below 0; enqueues and returns without waiting. The
/// subtraction itself is in f64: what it cancels is what the sums lost in f32, up to 2^-24 * mean^2
/// with each rounding of a sum. That matters where the mean is many times the deviation; elements
/// in f16 have lost digits of the deviation before, 2^-11 * mean of each.
void finish_statistics(cudaStream_t stream, const FinishStatistics& args);

}  // namespace bench::cuda
