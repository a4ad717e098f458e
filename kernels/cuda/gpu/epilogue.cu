#include "kernels/cuda/gpu/epilogue.h"

#include "kernels/cuda/gpu/activation.h"
#include "kernels/cuda/gpu/channel_walk.h"

namespace bench::cuda {
namespace {

template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    epilogue_kernel(ChannelTiling tiling, ActivationKind activation, const T* x, const float* bias,
                    const T* residual, T* y) {
  const LanePacks packs = lane_packs(tiling, blockIdx.x, blockIdx.y);
  if (!has_packs(packs)) {
    return;
  }
  float shift[N];
  load_channels(tiling, packs.channel, bias, 0.0F, shift);
  struct Loaded {
    Pack<T, N> x;
    Pack<T, N> residual;
  };
  for_each_pack<4>(
      packs,
      [&](std::int64_t offset) {
        Loaded loaded = {};
        loaded.x = load_pack<N>(x + offset);
        if (residual != nullptr) {
          loaded.residual = load_pack<N>(residual + offset);
        }
        return loaded;
      },
      [&](const Loaded& loaded, std::int64_t offset) {
        float values[N];
        to_floats(loaded.x, values);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          values[k] += shift[k];
        }
        if (residual != nullptr) {
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            values[k] += widened(loaded.residual.values[k]);
          }
        }
        with_activation(activation, [&](auto tag) {
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            values[k] = activated(decltype(tag)::value, values[k]);
          }
        });
        store_pack(y + offset, to_pack<T>(values));
      });
}

}  // namespace

void apply_epilogue(cudaStream_t stream, const ApplyEpilogue& args) {
  const ChannelTiling tiling = channel_tiling(args.view, args.dtype, kBlocksToApply);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      launch(stream, {"epilogue", grid_of(tiling), block_of(tiling)},
             epilogue_kernel<T, decltype(pack)::value>, tiling, args.activation,
             static_cast<const T*>(args.x), args.bias, static_cast<const T*>(args.residual),
             static_cast<T*>(args.y));
    });
  });
}

}  // namespace bench::cuda
