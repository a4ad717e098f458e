#include "kernels/cuda/gpu/channel_pad.h"

#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/element_walk.h"

namespace bench::cuda {
namespace {

/// A lane writes one row.
template <class T, int kPadded>
__global__ void pad_channels_kernel(std::int64_t rows, int channels, const T* __restrict__ x,
                                    T* __restrict__ y) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kElementLanes + threadIdx.x;
  if (row >= rows) {
    return;
  }
  Pack<T, kPadded> pack;
  for (int i = 0; i < kPadded; ++i) {
    pack.values[i] = i < channels ? x[row * channels + i] : narrowed<T>(0.0F);
  }
  store_pack(y + row * kPadded, pack);
}

}  // namespace

void pad_channels(cudaStream_t stream, const ChannelPad& args) {
  constexpr int kFew = 4;
  constexpr int kMany = 8;
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) == 2) {
      launch(stream, shape_for<1>("pad_channels", args.rows),
             args.padded == kFew ? pad_channels_kernel<T, kFew> : pad_channels_kernel<T, kMany>,
             args.rows, static_cast<int>(args.channels), static_cast<const T*>(args.from),
             static_cast<T*>(args.to));
    } else {
      throw InternalError("pad_channels: only for 16 bits");
    }
  });
}

}  // namespace bench::cuda
