#pragma once

#include <cstddef>

#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/runtime.h"
#include "models/ops/activation.h"

// Batch normalisation over the channels. All enqueue and return without waiting. Vectors hold
// `channels` floats, tensors view.elements() elements of `dtype`: f32, f16 or bf16 (InternalError
// for others); tensors begin at multiples of 16 bytes. The same input gives the same bits.

namespace bench::cuda {

/// Scratch that batch_norm_forward and batch_norm_backward need, in bytes, 16-byte aligned; its
/// contents need not survive.
std::size_t batch_norm_workspace_bytes(const View& view, DType dtype);
/// Memory that a batch_norm_forward or batch_norm_backward has for itself alone, in bytes: zeros
/// before its first launch, and behind each. May be 0.
std::size_t batch_norm_ticket_bytes(const View& view, DType dtype);
/// Kernels that batch_norm_statistics launches: one, or two where no last block joins the sums.
int batch_norm_statistics_launches(const View& view, DType dtype);
/// Those of batch_norm_forward or batch_norm_backward: these, and the one that applies them.
inline int batch_norm_launches(const View& view, DType dtype) {
  return batch_norm_statistics_launches(view, dtype) + 1;
}

/// kBatchNorm of models/ops/batch_norm.h.
struct BatchNormForward {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// Null: all ones.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  /// Added before the activation; null: none.
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  double epsilon = 1e-3;
  /// May be x or residual.
  void* y = nullptr;
  float* mean = nullptr;
  /// Biased.
  float* variance = nullptr;
  void* workspace = nullptr;
  unsigned* tickets = nullptr;
};
/// Reads x twice, in two launches; in three where a kernel of its own joins the blocks' sums. The
/// sums are of differences from one of the elements of a chunk, so that the variance loses nothing
/// where the mean is much larger than the deviation.
void batch_norm_forward(cudaStream_t stream, const BatchNormForward& args);

/// Its statistics alone: the first launch, or two; y, gamma, beta and what they go with are not
/// looked at.
void batch_norm_statistics(cudaStream_t stream, const BatchNormForward& args);

/// kBatchNormInference: the same with given statistics; one pass, no workspace.
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
  /// Added to dy; null: none.
  const void* second_dy = nullptr;
  const void* x = nullptr;
  const float* gamma = nullptr;
  /// Read only where y is made again.
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  /// One with derivative_from_output.
  ActivationKind activation = ActivationKind::none;
  /// The forward's output, for the activation's slope; not read without an activation. Null: it is
  /// made again from x, to the bits that batch_norm_inference gives.
  const void* y = nullptr;
  double epsilon = 1e-3;
  /// May be any of dy, second_dy, x and y, but not dresidual.
  void* dx = nullptr;
  float* dbeta = nullptr;
  /// Null: not wanted.
  float* dgamma = nullptr;
  /// Null: no residual. May be dy, second_dy or y, but not x.
  void* dresidual = nullptr;
  void* workspace = nullptr;
  unsigned* tickets = nullptr;
};
/// With dz = (dy + second_dy) * the activation's slope, n elements per channel and xhat = (x -
/// mean) / sqrt(variance + epsilon): dbeta = sum(dz), dgamma = sum(dz * xhat), dresidual = dz, dx =
/// gamma / sqrt(variance + epsilon) * (dz - dbeta / n - xhat * dgamma / n); Ioffe and Szegedy,
/// arXiv:1502.03167, section 3. Two passes, in as many launches as the forward's; the second one
/// reads dresidual, where there is one, instead of what it came from.
void batch_norm_backward(cudaStream_t stream, const BatchNormBackward& args);

}  // namespace bench::cuda
