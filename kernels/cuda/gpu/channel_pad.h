#pragma once

#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

// Rows of channels with zeros appended, for engines that need aligned pixels. All functions enqueue
// and return without waiting.

namespace bench::cuda {

/// Rows of `channels` elements in `narrow`, and of `padded` elements in `wide`. Both are NHWC, or
/// OHWI for filters. `padded` is 4 or 8 and more than `channels`; `wide` is aligned to a row.
struct ChannelPad {
  DType dtype = DType::f16;
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t padded = 0;
  const void* from = nullptr;
  void* to = nullptr;
};

/// Copies `from` in narrow rows to `to` in wide rows, with zeros after the channels.
void pad_channels(cudaStream_t stream, const ChannelPad& args);
/// Copies the channels of wide rows to narrow rows.
void drop_padded_channels(cudaStream_t stream, const ChannelPad& args);

}  // namespace bench::cuda
