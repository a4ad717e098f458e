#pragma once

#include <cstdint>
#include <span>

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// A row must have fewer than 2^31 elements, else InternalError. Enqueues one kernel per 64 parts
/// and returns without waiting.
void join_rows(cudaStream_t stream, const JoinRows& args);
/// The number of kernels that JoinRows enqueues.
int join_rows_launches(std::span<const RowPart> parts);

/// kChannelShuffle of models/ops/channel_shuffle.h: y[i * groups + g] = x[g * each + i]. A channel
/// is `inner` adjacent elements: H * W in nchw, 1 in nhwc. `outer` is the number of consecutive
/// runs of all channels: N in nchw, one per pixel in nhwc.
///
/// Any type is accepted; y must not overlap x. groups * each * inner must be below 2^31, else
/// InternalError. Enqueues and returns without waiting.
struct ChannelShuffle {
  DType dtype = DType::f32;
  std::int64_t outer = 1;
  std::int64_t groups = 1;
  /// The number of channels in a group.
  std::int64_t each = 1;
  std::int64_t inner = 1;
  const void* x = nullptr;
  void* y = nullptr;
};
void channel_shuffle(cudaStream_t stream, const ChannelShuffle& args);

}  // namespace bench::cuda
