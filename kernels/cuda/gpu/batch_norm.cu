#include "kernels/cuda/gpu/batch_norm.h"

#include "kernels/cuda/gpu/activation.h"
#include "kernels/cuda/gpu/channel_sums.h"

namespace bench::cuda {
namespace {

/// Partial sums of the forward: a chunk's mean and its sum of squared differences from that mean.
enum Moment : int { kMean, kSquares, kMoments };

/// A rounding may leave a sum of squares just below 0; a NaN has to stay one.
__device__ float not_negative(float value) { return value < 0.0F ? 0.0F : value; }

/// The moments of a chunk. All sums are of differences from the chunk's first element of a channel:
/// that is one of the elements, so what cancels in the sum of squares is bounded by their number
/// even if it lies far from all others, and is next to nothing if it does not.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    moments_kernel(ChannelTiling tiling, const T* x, float* partials) {
  const unsigned chunk = blockIdx.y;
  const LanePacks packs = lane_packs(tiling, blockIdx.x, chunk);
  float shift[N] = {};
  if (packs.channel < tiling.channels) {
    const std::int64_t first = first_unit(tiling, chunk) * tiling.unit_stride;
    to_floats(load_pack<N>(x + first + packs.channel * tiling.run), shift);
    if (tiling.order == Order::nchw) {
      BENCH_UNROLL
      for (int k = 1; k < N; ++k) {
        shift[k] = shift[0];
      }
    }
  }
  float sums[kMoments * N] = {};
  for_each_pack<4>(
      packs, [&](std::int64_t offset) { return load_pack<N>(x + offset); },
      [&](const Pack<T, N>& pack, std::int64_t) {
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          const float difference = widened(pack.values[k]) - shift[k];
          sums[k] += difference;
          sums[N + k] = fmaf(difference, difference, sums[N + k]);
        }
      });
  if (!join_block<kMoments, N>(tiling, packs, sums)) {
    return;
  }
  const float count = elements_in(tiling, chunk);
  float mean[N];
  float squares[N];
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    const float mean_difference = sums[k] / count;
    mean[k] = shift[k] + mean_difference;
    squares[k] = not_negative(sums[N + k] - sums[k] * mean_difference);
  }
  store_partial(tiling, packs, chunk, kMoments, kMean, mean, partials);
  store_partial(tiling, packs, chunk, kMoments, kSquares, squares, partials);
}

/// Joins the chunks' moments, with differences from the first chunk's mean for the same reason;
/// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances", 1979.
__global__ void __launch_bounds__(kMostJoiningLanes)
    join_moments_kernel(ChannelTiling tiling, const float* partials, float* mean, float* variance) {
  const std::int64_t channel = joined_channel();
  const float first =
      channel < tiling.channels ? partial(tiling, partials, 0, kMoments, kMean, channel) : 0.0F;
  float sums[kMoments];
  const bool writes = join_chunks(
      tiling,
      [&](unsigned chunk, float(&values)[kMoments]) {
        const float count = elements_in(tiling, chunk);
        const float difference = partial(tiling, partials, chunk, kMoments, kMean, channel) - first;
        values[kMean] = count * difference;
        values[kSquares] = fmaf(count * difference, difference,
                                partial(tiling, partials, chunk, kMoments, kSquares, channel));
      },
      sums);
  if (writes) {
    const float count = elements_of_channel(tiling);
    const float mean_difference = sums[kMean] / count;
    mean[channel] = first + mean_difference;
    variance[channel] = not_negative((sums[kSquares] - sums[kMean] * mean_difference) / count);
  }
}

template <class T>
struct Normalize {
  ChannelTiling tiling;
  const T* x;
  const T* residual;
  T* y;
  const float* gamma;
  const float* beta;
  const float* mean;
  const float* variance;
};

/// Chunks are taken from the last one on: the pass before this one ended there, so that they are
/// what the cache still holds.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    normalize_kernel(Normalize<T> args, ActivationKind activation, float epsilon) {
  const ChannelTiling& tiling = args.tiling;
  const LanePacks packs = lane_packs(tiling, blockIdx.x, tiling.chunks - 1 - blockIdx.y);
  if (!has_packs(packs)) {
    return;
  }
  // y = scale * x + shift. Where the mean is large this loses what the mean lost in its own
  // rounding once more, and no more than that.
  float scale[N];
  float shift[N];
  load_channels(tiling, packs.channel, args.gamma, 1.0F, scale);
  load_channels(tiling, packs.channel, args.beta, 0.0F, shift);
  {
    float mean[N];
    float variance[N];
    load_channels(tiling, packs.channel, args.mean, 0.0F, mean);
    load_channels(tiling, packs.channel, args.variance, 1.0F, variance);
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      scale[k] /= sqrtf(variance[k] + epsilon);
      shift[k] = fmaf(-mean[k], scale[k], shift[k]);
    }
  }
  struct Loaded {
    Pack<T, N> x;
    Pack<T, N> residual;
  };
  for_each_pack<2>(
      packs,
      [&](std::int64_t offset) {
        Loaded loaded = {};
        loaded.x = load_pack<N>(args.x + offset);
        if (args.residual != nullptr) {
          loaded.residual = load_pack<N>(args.residual + offset);
        }
        return loaded;
      },
      [&](const Loaded& loaded, std::int64_t offset) {
        float y[N];
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          y[k] = fmaf(widened(loaded.x.values[k]), scale[k], shift[k]);
        }
        if (args.residual != nullptr) {
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            y[k] += widened(loaded.residual.values[k]);
          }
        }
        with_activation(activation, [&](auto tag) {
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            y[k] = activated(decltype(tag)::value, y[k]);
          }
        });
        store_pack(args.y + offset, to_pack<T>(y));
      });
}

}  // namespace

void batch_norm_forward(cudaStream_t stream, const BatchNormForward& args) {
  const ChannelTiling tiling = channel_tiling(args.view, args.dtype, kBlocksForSums);
  auto* const partials = static_cast<float*>(args.workspace);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      launch(stream, {"batch_norm_moments", grid_of(tiling), block_of(tiling)},
             moments_kernel<T, decltype(pack)::value>, tiling, static_cast<const T*>(args.x),
             partials);
    });
  });
  launch(stream, {"batch_norm_join_moments", joining_grid(tiling), joining_block(tiling)},
         join_moments_kernel, tiling, partials, args.mean, args.variance);
  batch_norm_inference(stream, {.view = args.view,
                                .dtype = args.dtype,
                                .x = args.x,
                                .gamma = args.gamma,
                                .beta = args.beta,
                                .mean = args.mean,
                                .variance = args.variance,
                                .residual = args.residual,
                                .activation = args.activation,
                                .epsilon = args.epsilon,
                                .y = args.y});
}

void batch_norm_inference(cudaStream_t stream, const BatchNormInference& args) {
  const ChannelTiling tiling = channel_tiling(args.view, args.dtype, kBlocksToApply);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      launch(stream, {"batch_norm_normalize", grid_of(tiling), block_of(tiling)},
             normalize_kernel<T, decltype(pack)::value>,
             Normalize<T>{.tiling = tiling,
                          .x = static_cast<const T*>(args.x),
                          .residual = static_cast<const T*>(args.residual),
                          .y = static_cast<T*>(args.y),
                          .gamma = args.gamma,
                          .beta = args.beta,
                          .mean = args.mean,
                          .variance = args.variance},
             args.activation, static_cast<float>(args.epsilon));
    });
  });
}

}  // namespace bench::cuda
