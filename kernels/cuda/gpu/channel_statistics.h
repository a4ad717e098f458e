#pragma once

#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// Replaces sums and sums of squares with means and biased variances.
struct FinishStatistics {
  std::int64_t channels = 0;
  /// The number of elements in each sum.
  std::int64_t count = 1;
  /// On input the sums of the elements, on output their means.
  float* mean = nullptr;
  /// On input the sums of their squares, on output the variances.
  float* variance = nullptr;
};
/// variance = squares / count - mean^2, never below 0; enqueues and returns without waiting. The
/// subtraction is in f64. It cancels to the error of the sums in f32: up to 2^-24 * mean^2 per
/// rounding of a sum. That matters if the mean is many times the deviation. Elements in f16 have
/// already lost digits of the deviation, 2^-11 * mean each.
void finish_statistics(cudaStream_t stream, const FinishStatistics& args);

/// Converts a batch norm with given statistics to the two factors of x * scale + shift.
struct ScaleAndShift {
  std::int64_t channels = 0;
  /// Null means all ones.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  double epsilon = 1e-3;
  /// The type of the outputs: f32, f16 or bf16.
  DType dtype = DType::f32;
  void* scale = nullptr;
  void* shift = nullptr;
};
/// scale = gamma / sqrt(variance + epsilon), rounded; then shift = beta - mean * scale, rounded. So
/// the rounding of scale affects only x - mean.
///
/// In f16 the rounding of shift is 2^-11 of shift itself. If the mean is many times the deviation,
/// this equals the loss in the elements. A shift beyond 65504 becomes infinite in f16. Enqueues and
/// returns without waiting.
void scale_and_shift(cudaStream_t stream, const ScaleAndShift& args);

}  // namespace bench::cuda
