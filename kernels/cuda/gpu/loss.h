#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

// Losses and accuracies, all in f32: networks with mixed precision also have f32 logits and
// variables. Matrices are row-major. A row whose label is outside 0..classes-1 makes the result and
// its gradients NaN, since a kernel cannot report an error. All launches enqueue and do not wait.

/// loss = weight * mean over rows of -sum over classes of target * log softmax(logits), with the
/// target of SoftmaxCrossEntropyAttributes. `probabilities` may be `logits`.
struct SoftmaxCrossEntropy {
  double label_smoothing = 0;
  double weight = 1;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  float* probabilities = nullptr;
  /// One element.
  float* loss = nullptr;
  /// Size: row_workspace_bytes(rows).
  void* workspace = nullptr;
};
void softmax_cross_entropy_forward(cudaStream_t stream, const SoftmaxCrossEntropy& args);

/// dlogits = weight * (probabilities - target) * dloss / rows. `dlogits` may be `probabilities`.
struct SoftmaxCrossEntropyBackward {
  double label_smoothing = 0;
  double weight = 1;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* probabilities = nullptr;
  const std::int32_t* labels = nullptr;
  /// One element.
  const float* dloss = nullptr;
  float* dlogits = nullptr;
};
void softmax_cross_entropy_gradient(cudaStream_t stream, const SoftmaxCrossEntropyBackward& args);

/// The share of rows in which fewer than k classes have a strictly larger logit than the label. A
/// row whose label has a non-finite logit is a miss.
struct TopKAccuracy {
  std::int64_t k = 1;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  /// One element.
  float* share = nullptr;
  /// Size: row_workspace_bytes(rows).
  void* workspace = nullptr;
};
void top_k_share(cudaStream_t stream, const TopKAccuracy& args);

/// The workspace of a softmax_cross_entropy or top_k_accuracy.
std::size_t row_workspace_bytes(std::int64_t rows);

/// Contiguous elements, starting at a multiple of 16 bytes.
struct Floats {
  const float* data = nullptr;
  std::int64_t count = 0;
};

/// loss = coefficient * sum over all tensors of sum(w^2) / 2.
struct L2Loss {
  double coefficient = 0;
  std::span<const Floats> tensors = {};
  /// One element.
  float* loss = nullptr;
  /// Size: l2_loss_workspace_bytes(tensors).
  void* workspace = nullptr;
};
void l2_loss_forward(cudaStream_t stream, const L2Loss& args);
/// Depends only on the tensors' counts.
std::size_t l2_loss_workspace_bytes(std::span<const Floats> tensors);
int l2_loss_launches(std::span<const Floats> tensors);

/// dw = coefficient * dloss * w. `dw` may be `w`.
struct L2LossBackward {
  double coefficient = 0;
  Floats w = {};
  /// One element.
  const float* dloss = nullptr;
  float* dw = nullptr;
};
void l2_loss_gradient(cudaStream_t stream, const L2LossBackward& args);

/// result = factor * sum(values) / divisor, computed by one block.
struct JoinedSums {
  const float* values = nullptr;
  std::int64_t count = 0;
  double factor = 1;
  std::int64_t divisor = 1;
  float* result = nullptr;
};
void join_sums(cudaStream_t stream, const JoinedSums& args);

}  // namespace bench::cuda
