#pragma once

#include <cstdint>

#include "kernels/cuda/runtime.h"
#include "models/base/dtype.h"

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

/// A batch norm with given statistics as the two factors of x * scale + shift.
struct ScaleAndShift {
  std::int64_t channels = 0;
  /// Null: all ones.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  double epsilon = 1e-3;
  /// Of what is written: f32, f16 or bf16.
  DType dtype = DType::f32;
  void* scale = nullptr;
  void* shift = nullptr;
};
/// scale = gamma / sqrt(variance + epsilon), rounded, then shift = beta - mean * that, rounded. So
/// the rounding of scale weighs on x - mean alone; that of shift is 2^-11 of itself in f16, which
/// where the mean is many times the deviation is as much as the elements have lost. A shift beyond
/// 65504 becomes infinite there. Enqueues and returns without waiting.
void scale_and_shift(cudaStream_t stream, const ScaleAndShift& args);

}  // namespace bench::cuda
