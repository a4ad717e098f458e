#include "kernels/cuda/gpu/plane_scale.h"

#include "kernels/cuda/gpu/channel_walk.h"

namespace bench::cuda {
namespace {

template <class T>
struct Arguments {
  /// Covers one image in NHWC. In NCHW it covers all planes, as if they were images of one channel.
  ChannelTiling tiling;
  const T* x;
  const T* scales;
  T* y;
};

template <class T, int N>
__device__ void scale_packs(const Arguments<T>& args, const LanePacks& packs,
                            const float (&scales)[N]) {
  if (args.x == nullptr) {
    const Pack<T, N> filled = to_pack<T>(scales);
    for_each_pack<1>(
        packs, [&](std::int64_t) { return 0; },
        [&](int, std::int64_t offset) { store_pack(args.y + offset, filled); });
    return;
  }
  for_each_pack<2>(
      packs, [&](std::int64_t offset) { return load_pack<N>(args.x + offset); },
      [&](const Pack<T, N>& pack, std::int64_t offset) {
        float values[N];
        to_floats(pack, values);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          values[k] *= scales[k];
        }
        store_pack(args.y + offset, to_pack<T>(values));
      });
}

/// In x, the blocks are the tiles of all images.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    nhwc_scale_kernel(Arguments<T> args, float factor) {
  const ChannelTiling& tiling = args.tiling;
  const std::int64_t image = blockIdx.x / tiling.tiles;
  LanePacks packs = lane_packs(tiling, blockIdx.x % tiling.tiles, blockIdx.y);
  if (!has_packs(packs)) {
    return;
  }
  packs.offset += image * tiling.units * tiling.unit_stride;
  float scales[N];
  to_floats(load_pack<N>(args.scales + image * tiling.channels + packs.channel), scales);
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    scales[k] *= factor;
  }
  scale_packs(args, packs, scales);
}

/// A row of lanes handles each plane.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    nchw_scale_kernel(Arguments<T> args, float factor) {
  const ChannelTiling& tiling = args.tiling;
  const std::int64_t plane = static_cast<std::int64_t>(blockIdx.x) * tiling.lanes_y + threadIdx.y;
  if (plane >= tiling.units) {
    return;
  }
  const int lane = static_cast<int>(threadIdx.x);
  const int lanes = static_cast<int>(tiling.lanes_x);
  const LanePacks packs{
      .offset = plane * tiling.run + lane * N,
      .stride = static_cast<std::int64_t>(lanes) * N,
      .turn_stride = 0,
      .count = steps_between(lane, static_cast<int>(tiling.packs), lanes),
  };
  float scales[N];
  scales[0] = widened(args.scales[plane]) * factor;
  BENCH_UNROLL
  for (int k = 1; k < N; ++k) {
    scales[k] = scales[0];
  }
  scale_packs(args, packs, scales);
}

}  // namespace

void plane_scale(cudaStream_t stream, const PlaneScale& args) {
  const bool planes_apart = args.view.order == Order::nhwc || args.view.spatial == 1;
  View part = args.view;
  if (planes_apart) {
    part.batch = 1;
  } else {
    part.batch *= part.channels;
    part.channels = 1;
  }
  const std::int64_t blocks_per_image = kBlocksToApply / args.view.batch;
  const ChannelTiling tiling = channel_tiling(part, args.dtype, blocks_per_image);
  const auto factor = static_cast<float>(args.factor);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      constexpr int kPack = decltype(pack)::value;
      const Arguments<T> arguments{.tiling = tiling,
                                   .x = static_cast<const T*>(args.x),
                                   .scales = static_cast<const T*>(args.scales),
                                   .y = static_cast<T*>(args.y)};
      if (tiling.order == Order::nhwc) {
        const auto blocks = static_cast<unsigned>(args.view.batch * tiling.tiles);
        launch(stream, {"plane_scale_nhwc", dim3(blocks, tiling.chunks), block_of(tiling)},
               nhwc_scale_kernel<T, kPack>, arguments, factor);
      } else {
        launch(
            stream,
            {"plane_scale_nchw", dim3(blocks_for(tiling.units, tiling.lanes_y)), block_of(tiling)},
            nchw_scale_kernel<T, kPack>, arguments, factor);
      }
    });
  });
}

}  // namespace bench::cuda
