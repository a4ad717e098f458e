#include "kernels/cuda/gpu/plane_sums.h"

#include "kernels/cuda/gpu/channel_sums.h"

namespace bench::cuda {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kPlanesPerBlock = kChannelLanes / kWarp;

template <class T>
struct Arguments {
  /// Covers one image in NHWC.
  ChannelTiling tiling;
  std::int64_t planes;
  const T* a;
  const T* b;
  T* sums;
};

/// Adds a lane's packs, multiplied by those of b if there is one, to its sums.
template <class T, int N>
__device__ void add_packs(const Arguments<T>& args, const LanePacks& packs, float (&sums)[N]) {
  struct Loaded {
    Pack<T, N> a;
    Pack<T, N> b;
  };
  for_each_pack<2>(
      packs,
      [&](std::int64_t offset) {
        Loaded loaded = {};
        loaded.a = load_pack<N>(args.a + offset);
        if (args.b != nullptr) {
          loaded.b = load_pack<N>(args.b + offset);
        }
        return loaded;
      },
      [&](const Loaded& loaded, std::int64_t) {
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          const float by = args.b == nullptr ? 1.0F : widened(loaded.b.values[k]);
          sums[k] = fmaf(widened(loaded.a.values[k]), by, sums[k]);
        }
      });
}

/// One block handles each tile of channels of each image.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes) nhwc_sums_kernel(Arguments<T> args, float factor) {
  const ChannelTiling& tiling = args.tiling;
  const std::int64_t image = blockIdx.x / tiling.tiles;
  LanePacks packs = lane_packs(tiling, blockIdx.x % tiling.tiles, 0);
  packs.offset += image * tiling.units * tiling.unit_stride;
  float sums[N] = {};
  add_packs(args, packs, sums);
  if (join_block<1, N>(tiling, packs, sums)) {
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      sums[k] *= factor;
    }
    store_pack(args.sums + image * tiling.channels + packs.channel, to_pack<T>(sums));
  }
}

/// One warp handles each plane.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes) nchw_sums_kernel(Arguments<T> args, float factor) {
  const std::int64_t plane =
      static_cast<std::int64_t>(blockIdx.x) * kPlanesPerBlock + threadIdx.x / kWarp;
  if (plane >= args.planes) {
    return;
  }
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const LanePacks packs{
      .offset = plane * args.tiling.run + lane * N,
      .stride = kWarp * N,
      .turn_stride = 0,
      .count = steps_between(lane, static_cast<int>(args.tiling.packs), kWarp),
  };
  float sums[N] = {};
  add_packs(args, packs, sums);
  float sum = sums[0];
  BENCH_UNROLL
  for (int k = 1; k < N; ++k) {
    sum += sums[k];
  }
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, distance);
  }
  if (lane == 0) {
    args.sums[plane] = narrowed<T>(sum * factor);
  }
}

}  // namespace

void plane_sums(cudaStream_t stream, const PlaneSums& args) {
  View image = args.view;
  image.batch = 1;
  ChannelTiling tiling = channel_tiling(image, args.dtype, 1);
  // One chunk covers an image of any size.
  tiling.units_per_chunk = tiling.units;
  tiling.chunks = 1;
  const std::int64_t planes = args.view.batch * args.view.channels;
  const auto factor = static_cast<float>(args.factor);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      constexpr int kPack = decltype(pack)::value;
      const Arguments<T> arguments{.tiling = tiling,
                                   .planes = planes,
                                   .a = static_cast<const T*>(args.a),
                                   .b = static_cast<const T*>(args.b),
                                   .sums = static_cast<T*>(args.sums)};
      if (tiling.order == Order::nhwc) {
        const auto blocks = static_cast<unsigned>(args.view.batch * tiling.tiles);
        launch(stream, {"plane_sums_nhwc", dim3(blocks), block_of(tiling)},
               nhwc_sums_kernel<T, kPack>, arguments, factor);
      } else {
        launch(stream,
               {"plane_sums_nchw", dim3(blocks_for(planes, kPlanesPerBlock)), dim3(kChannelLanes)},
               nchw_sums_kernel<T, kPack>, arguments, factor);
      }
    });
  });
}

}  // namespace bench::cuda
