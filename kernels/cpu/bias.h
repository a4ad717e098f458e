#pragma once

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// kBiasAdd of models/ops/bias_add.h: y = x + bias per channel. y may be x.
struct BiasAdd {
  ChannelView view;
  /// f32, bf16 or f16, of x and y.
  DType dtype = DType::f32;
  const void* x = nullptr;
  const float* bias = nullptr;
  void* y = nullptr;
};
void bias_add(ThreadTeam& team, const BiasAdd& args);

/// kBiasBackward: dbias[channels] = dy summed over batch and space, in double.
struct BiasBackward {
  ChannelView view;
  /// f32, bf16 or f16, of dy.
  DType dtype = DType::f32;
  const void* dy = nullptr;
  float* dbias = nullptr;
  /// channel_workspace_bytes (batch_norm.h).
  void* workspace = nullptr;
};
void bias_backward(ThreadTeam& team, const BiasBackward& args);

}  // namespace bench::cpu
