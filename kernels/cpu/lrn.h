#pragma once

#include <cstddef>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/lrn.h"

namespace bench::cpu {

/// Scratch of the kernels below, in bytes; to be 64-byte aligned, contents need not survive.
std::size_t lrn_workspace_bytes(const ChannelView& view, const LrnAttributes& attributes,
                                int threads);

/// kLrn of models/ops/lrn.h in nchw or nhwc; a blocked view throws InternalError. y may be x.
/// Waits.
struct Lrn {
  ChannelView view;
  LrnAttributes attributes;
  /// f32, bf16 or f16, of x and y.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;
};
void lrn(ThreadTeam& team, const Lrn& args);

/// kLrnBackward. dx may be dy or x.
struct LrnBackward {
  ChannelView view;
  LrnAttributes attributes;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const void* x = nullptr;
  void* dx = nullptr;
  void* workspace = nullptr;
};
void lrn_backward(ThreadTeam& team, const LrnBackward& args);

}  // namespace bench::cpu
