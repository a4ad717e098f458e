#pragma once

#include <cstddef>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/ops/activation.h"

// Batch normalisation over the channels. All functions enqueue and return without waiting. Vectors
// hold `channels` floats. Tensors have view.elements() elements of `dtype`: f32, f16 or bf16
// (InternalError for others). They begin at multiples of 16 bytes. The same input gives the same
// bits.

namespace bench::cuda {

/// Scratch that batch_norm_forward and batch_norm_backward need, in bytes, 16-byte aligned. Its
/// contents need not be preserved.
std::size_t batch_norm_workspace_bytes(const View& view, DType dtype);
/// Memory, in bytes, that one batch_norm_forward or batch_norm_backward uses exclusively. It must
/// be zero before the first launch, and each launch leaves it zero. May be 0 bytes.
std::size_t batch_norm_ticket_bytes(const View& view, DType dtype);
/// Kernels that batch_norm_statistics launches: 1, or 2 if no last block joins the sums.
int batch_norm_statistics_launches(const View& view, DType dtype);
/// Kernels of batch_norm_forward or batch_norm_backward: these, and one that applies the
/// statistics.
inline int batch_norm_launches(const View& view, DType dtype) {
  return batch_norm_statistics_launches(view, dtype) + 1;
}

/// kBatchNorm of models/ops/batch_norm.h.
struct BatchNormForward {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// Null means all ones.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  /// Added before the activation; may be null.
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  double epsilon = 1e-3;
  /// May be x or residual.
  void* y = nullptr;
  float* mean = nullptr;
  /// The biased variance.
  float* variance = nullptr;
  void* workspace = nullptr;
  unsigned* tickets = nullptr;
};
/// Reads x twice, in two launches, or three if a separate kernel joins the blocks' sums. The sums
/// are of differences from one element of a chunk. So the variance loses no precision if the mean
/// is much larger than the deviation.
void batch_norm_forward(cudaStream_t stream, const BatchNormForward& args);

/// Computes only the statistics, in the first launch or the first two. Does not use y, gamma, beta
/// and the fields that belong to them.
void batch_norm_statistics(cudaStream_t stream, const BatchNormForward& args);

/// kBatchNormInference: the same with given statistics, in one pass without a workspace.
struct BatchNormInference {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  double epsilon = 1e-3;
  void* y = nullptr;
};
void batch_norm_inference(cudaStream_t stream, const BatchNormInference& args);

/// kBatchNormBackward.
struct BatchNormBackward {
  View view;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  /// Added to dy; may be null.
  const void* second_dy = nullptr;
  const void* x = nullptr;
  const float* gamma = nullptr;
  /// Read only if y is recomputed.
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  /// Must satisfy derivative_from_output.
  ActivationKind activation = ActivationKind::none;
  /// The forward's output, for the activation's slope; not read without an activation. If null, y
  /// is recomputed from x, with exactly the bits of batch_norm_inference.
  const void* y = nullptr;
  double epsilon = 1e-3;
  /// May be any of dy, second_dy, x and y, but not dresidual.
  void* dx = nullptr;
  float* dbeta = nullptr;
  /// Null if not wanted.
  float* dgamma = nullptr;
  /// Null without a residual. May be dy, second_dy or y, but not x.
  void* dresidual = nullptr;
  void* workspace = nullptr;
  unsigned* tickets = nullptr;
};
/// With dz = (dy + second_dy) * the activation's slope, n elements per channel, and xhat = (x -
/// mean) / sqrt(variance + epsilon):
///
///   dbeta = sum(dz), dgamma = sum(dz * xhat), dresidual = dz,
///   dx = gamma / sqrt(variance + epsilon) * (dz - dbeta / n - xhat * dgamma / n);
///
/// Ioffe and Szegedy, arXiv:1502.03167, section 3. Makes two passes, in as many launches as the
/// forward. If there is a dresidual, the second pass reads it instead of its sources.
void batch_norm_backward(cudaStream_t stream, const BatchNormBackward& args);

}  // namespace bench::cuda
