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
/// subtraction itself is in f64: what it cancels is what the sums lost in f32, some 2^-24 * mean^2.
/// That matters where the mean is a thousand times the deviation; elements in f16 have lost the
/// deviation's digits long before, 2^-11 * mean of each.
void finish_statistics(cudaStream_t stream, const FinishStatistics& args);

}  // namespace bench::cuda
