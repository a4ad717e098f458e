#pragma once

#include <span>

#include "kernels/cpu/batch_norm.h"

namespace bench::cpu {

/// A part of kConcatBatchNorm. In a blocked layout its channels are whole blocks.
struct ChannelPart {
  const void* x = nullptr;
  std::int64_t channels = 0;
};

/// kConcatBatchNorm of models/ops/concat_batch_norm.h. Vectors hold `view.channels` floats.
struct ConcatBatchNorm {
  /// The view of y; each part has the same kind of layout.
  ChannelView view;
  /// The type of the parts.
  DType dtype = DType::f32;
  std::span<const ChannelPart> parts = {};
  /// Null: all ones.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
  /// None, ReLU or ReLU6.
  ActivationKind activation = ActivationKind::none;
  double epsilon = 1e-3;
  /// The type of the parts, or u8 or s8, for multiples of `quantum`. A NaN becomes any of them.
  DType to = DType::f32;
  double quantum = 1;
  /// Must not overlap a part.
  void* y = nullptr;
  /// channel_workspace_bytes(view, the team's size).
  void* workspace = nullptr;
};

/// Reads and writes each element once. In the type of the parts, the result has the bits of
/// batch_norm_inference(). Throws InternalError if the parts do not fit the view. Waits.
void concat_batch_norm(ThreadTeam& team, const ConcatBatchNorm& args);

}  // namespace bench::cpu
