#pragma once

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kSpatialMean of models/ops/spatial_mean.h: y[batch][channels], dense, is x's mean over space,
/// summed in double.
struct SpatialMean {
  ChannelView view;
  /// f32, bf16 or f16, of x and y.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
  /// channel_workspace_bytes (batch_norm.h).
  void* workspace = nullptr;
};
void spatial_mean(ThreadTeam& team, const SpatialMean& args);

/// kSpatialMeanBackward: dx is dy[batch][channels] / spatial everywhere, padded channels zero.
struct SpatialMeanBackward {
  ChannelView view;
  /// f32, bf16 or f16, of dy and dx.
  DType dtype = DType::f32;
  const void* dy = nullptr;
  void* dx = nullptr;
  /// channel_workspace_bytes (batch_norm.h).
  void* workspace = nullptr;
};
void spatial_mean_backward(ThreadTeam& team, const SpatialMeanBackward& args);

}  // namespace bench::cpu
