#include "kernels/cuda/gpu/bias.h"

#include "kernels/cuda/gpu/channel_sums.h"

namespace bench::cuda {
namespace {

template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    bias_add_kernel(ChannelTiling tiling, const T* x, const float* bias, T* y) {
  const LanePacks packs = lane_packs(tiling, blockIdx.x, blockIdx.y);
  if (!has_packs(packs)) {
    return;
  }
  float shift[N];
  load_channels(tiling, packs.channel, bias, 0.0F, shift);
  for_each_pack<4>(
      packs, [&](std::int64_t offset) { return load_pack<N>(x + offset); },
      [&](const Pack<T, N>& pack, std::int64_t offset) {
        float values[N];
        to_floats(pack, values);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          values[k] += shift[k];
        }
        store_pack(y + offset, to_pack<T>(values));
      });
}

template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    channel_sums_kernel(ChannelTiling tiling, const T* x, float* partials) {
  const LanePacks packs = lane_packs(tiling, blockIdx.x, blockIdx.y);
  float sums[N] = {};
  for_each_pack<4>(
      packs, [&](std::int64_t offset) { return load_pack<N>(x + offset); },
      [&](const Pack<T, N>& pack, std::int64_t) {
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          sums[k] += widened(pack.values[k]);
        }
      });
  if (join_block<1, N>(tiling, packs, sums)) {
    store_partial(tiling, packs, blockIdx.y, 1, 0, sums, partials);
  }
}

__global__ void __launch_bounds__(kMostJoiningLanes)
    join_channel_sums_kernel(ChannelTiling tiling, const float* partials, float* joined) {
  float sums[1];
  const bool writes = join_chunks(
      tiling,
      [&](unsigned chunk, float(&values)[1]) {
        values[0] = partial(tiling, partials, chunk, 1, 0, joined_channel());
      },
      sums);
  if (writes) {
    joined[joined_channel()] = sums[0];
  }
}

}  // namespace

void bias_add(cudaStream_t stream, const BiasAdd& args) {
  const ChannelTiling tiling = channel_tiling(args.view, args.dtype, kBlocksToApply);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      launch(stream, {"bias_add", grid_of(tiling), block_of(tiling)},
             bias_add_kernel<T, decltype(pack)::value>, tiling, static_cast<const T*>(args.x),
             args.bias, static_cast<T*>(args.y));
    });
  });
}

std::size_t bias_backward_workspace_bytes(const View& view, DType dtype) {
  return partials_bytes(channel_tiling(view, dtype, kBlocksForSums), 1);
}

void bias_backward(cudaStream_t stream, const BiasBackward& args) {
  const ChannelTiling tiling = channel_tiling(args.view, args.dtype, kBlocksForSums);
  auto* const partials = static_cast<float*>(args.workspace);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      launch(stream, {"bias_channel_sums", grid_of(tiling), block_of(tiling)},
             channel_sums_kernel<T, decltype(pack)::value>, tiling, static_cast<const T*>(args.dy),
             partials);
    });
  });
  launch(stream, {"bias_join_sums", joining_grid(tiling), joining_block(tiling)},
         join_channel_sums_kernel, tiling, partials, args.dbias);
}

}  // namespace bench::cuda
