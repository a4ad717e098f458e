#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// A stretch of every row that JoinRows writes.
struct RowPart {
  /// Row r of it begins at x + r * stride. Null: zeros.
  const void* x = nullptr;
  std::int64_t width = 0;
  std::int64_t stride = 0;
};

/// Every row of y is its parts, one behind the other; y's rows are dense. Concatenation, slices and
/// zero padding over the channels are this: a row is a pixel in nhwc, a sample in nchw. Widths and
/// strides count elements, of any type; y overlaps no part. A row has fewer than 2^31 elements,
/// else InternalError. Enqueues one kernel per 64 parts and returns without waiting.
struct JoinRows {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::span<const RowPart> parts;
  void* y = nullptr;
};
void join_rows(cudaStream_t stream, const JoinRows& args);
/// How many kernels that are.
int join_rows_launches(std::span<const RowPart> parts);

/// kChannelShuffle of models/ops/channel_shuffle.h: y[i * groups + g] = x[g * each + i], where a
/// channel is `inner` elements side by side (H * W in nchw, 1 in nhwc), and `outer` times all the
/// channels lie one behind the other (N times, or once for each pixel). Of any type; y does not
/// overlap x, and groups * each * inner < 2^31, else InternalError. Enqueues and returns without
/// waiting.
struct ChannelShuffle {
  DType dtype = DType::f32;
  std::int64_t outer = 1;
  std::int64_t groups = 1;
  /// Channels of a group.
  std::int64_t each = 1;
  std::int64_t inner = 1;
  const void* x = nullptr;
  void* y = nullptr;
};
void channel_shuffle(cudaStream_t stream, const ChannelShuffle& args);

}  // namespace bench::cuda
