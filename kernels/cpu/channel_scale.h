#pragma once

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kChannelScale of models/ops/channel_scale.h: y = x * s, s the same for all of a channel's pixels
/// in a sample. Padded channels stay zero. y may be x. Waits.
struct ChannelScale {
  ChannelView view;
  /// f32, bf16 or f16, of x, s and y.
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// A sample's scales, dense.
  const void* s = nullptr;
  /// From a sample's scales to the next one's, in elements, at least the channels.
  std::int64_t s_stride = 0;
  void* y = nullptr;
};
void channel_scale(ThreadTeam& team, const ChannelScale& args);

/// kChannelScaleBackward: ds[batch][channels], dense, is the sum of dy * x over space, in double.
/// Waits.
struct ChannelScaleBackward {
  ChannelView view;
  /// f32, bf16 or f16, of dy, x and ds.
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const void* x = nullptr;
  void* ds = nullptr;
  /// channel_workspace_bytes (batch_norm.h).
  void* workspace = nullptr;
};
void channel_scale_backward(ThreadTeam& team, const ChannelScaleBackward& args);

}  // namespace bench::cpu
