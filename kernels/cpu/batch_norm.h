#pragma once

#include <cstddef>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/activation.h"

namespace bench::cpu {

/// Scratch bytes for any per-channel kernel (batch norm, bias gradient, spatial mean) with this
/// view and team size. It must be 64-byte aligned; its contents need not survive.
std::size_t channel_workspace_bytes(const ChannelView& view, int threads);

/// Returns true if the kernels below support the activation: none, ReLU or ReLU6. They throw
/// InternalError for any other.
bool batch_norm_carries(ActivationKind activation);

/// kBatchNorm of models/ops/batch_norm.h. Vectors hold `channels` floats, tensors view.elements()
/// elements of `dtype`: f32, bf16 or f16.
struct BatchNormForward {
  ChannelView view;
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
};
/// Reads x twice (the second time backwards, or from cache if a channel group fits) and writes y
/// once. Statistics are as accurate as in double, however large the mean is relative to the
/// deviation. For a given team size the result is repeatable bit for bit. Waits.
void batch_norm_forward(ThreadTeam& team, const BatchNormForward& args);

/// kBatchNormInference: the same with given statistics; one pass.
struct BatchNormInference {
  ChannelView view;
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
  void* workspace = nullptr;
};
void batch_norm_inference(ThreadTeam& team, const BatchNormInference& args);

/// kBatchNormBackward.
struct BatchNormBackward {
  ChannelView view;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  /// Added to dy; null: none.
  const void* second_dy = nullptr;
  const void* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  ActivationKind activation = ActivationKind::none;
  /// The forward's output, for the activation's mask; not read without an activation.
  const void* y = nullptr;
  double epsilon = 1e-3;
  /// May be a dy, x or y, but not dresidual; with a second dy and no dresidual neither x nor y.
  void* dx = nullptr;
  float* dbeta = nullptr;
  /// Null: not wanted.
  float* dgamma = nullptr;
  /// Null: no residual. May be a dy or y, but not x.
  void* dresidual = nullptr;
  void* workspace = nullptr;
};
/// Let dz = dy where the activation's slope is 1 (y > 0, and y < 6 for ReLU6), else 0. Let n be the
/// elements per channel and xhat = (x - mean) / sqrt(variance + epsilon). Then dbeta = sum(dz),
/// dgamma = sum(dz * xhat), dresidual = dz; dx = gamma / sqrt(variance + epsilon) * (dz - dbeta / n
/// - xhat * sum(dz * xhat) / n). Makes two passes. The second reads dresidual instead of dy and y
/// if it exists, or dx if there are two dy. In 16 bits that sum is rounded before it is read.
/// Waits.
void batch_norm_backward(ThreadTeam& team, const BatchNormBackward& args);

}  // namespace bench::cpu
