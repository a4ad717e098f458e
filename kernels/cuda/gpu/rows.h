#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// A range of every row that JoinRows writes.
struct RowPart {
  /// The part's row r begins at x + r * stride. Null means zeros.
  const void* x = nullptr;
  std::int64_t width = 0;
  std::int64_t stride = 0;
};

/// Every row of y is the concatenation of its parts; y's rows are dense. Concatenation, slices and
/// zero padding over the channels have this form: a row is a pixel in nhwc, a sample in nchw.
///
/// Widths and strides count elements, of any type; y overlaps no part. A row must have fewer than
/// 2^31 elements, else InternalError. Enqueues one kernel per 64 parts and returns without waiting.
struct JoinRows {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::span<const RowPart> parts;
  void* y = nullptr;
};
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
