#pragma once

#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// Pixels of an NHWC tensor, or places of an OHWI filter, in 16 bits: `rows` of `channels`
/// elements. `padded` is 4 or 8, and more than that. `to` is aligned to a padded row.
struct ChannelPad {
  DType dtype = DType::f16;
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t padded = 0;
  const void* from = nullptr;
  void* to = nullptr;
};

/// Copies rows with zeros after their channels, for engines that need aligned pixels. spatial_pad()
/// can do the same. Here a lane writes a whole row. Enqueues and returns without waiting.
void pad_channels(cudaStream_t stream, const ChannelPad& args);

}  // namespace bench::cuda
