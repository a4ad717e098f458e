#include "kernels/cuda/gpu/batch_norm.h"

#include "kernels/cuda/gpu/activation.h"
#include "kernels/cuda/gpu/last_block.h"

namespace bench::cuda {
namespace {

/// The forward's partial sums: a chunk's mean and its sum of squared differences from that mean.
enum Moment : int { kMean, kSquares, kMoments };

/// Rounding may leave a sum of squares just below 0; a NaN must stay a NaN.
__device__ float not_negative(float value) { return value < 0.0F ? 0.0F : value; }

/// Joins the moments of chunks. Differences are from the first chunk's mean, for the same reason as
/// within a chunk. Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
/// computing sample variances", 1979.
struct JoinedMoments {
  float mean;
  float variance;
};
__device__ inline void add_moments(float count, float mean, float squares, float first,
                                   float& differences, float& squared) {
  const float difference = mean - first;
  differences = count * difference;
  squared = fmaf(count * difference, difference, squares);
}
__device__ inline JoinedMoments joined(float count, float first, float differences, float squared) {
  const float mean_difference = differences / count;
  return {first + mean_difference, not_negative((squared - differences * mean_difference) / count)};
}

/// A layer's statistics, and how blocks obtain them.
struct Statistics {
  JoinedTiling joined;
  float* partials;
  unsigned* tickets;
  float* mean;
  float* variance;
};

/// The work of a tile's last block.
template <int N>
__device__ void join_moments_of_tile(const Statistics& to, const LanePacks& packs) {
  const ChannelTiling& tiling = to.joined.tiling;
  float first[N] = {};
  if (packs.channel < tiling.channels) {
    load_partial(tiling, packs, 0, kMoments, kMean, to.partials, first);
  }
  float sums[kMoments * N];
  const bool writes = join_chunks_of_tile<kMoments, N>(
      tiling, packs,
      [&](unsigned chunk, float(&values)[kMoments * N]) {
        const float count = elements_in(tiling, chunk);
        float mean[N] = {};
        float squares[N] = {};
        load_partial(tiling, packs, chunk, kMoments, kMean, to.partials, mean);
        load_partial(tiling, packs, chunk, kMoments, kSquares, to.partials, squares);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          add_moments(count, mean[k], squares[k], first[k], values[kMean * N + k],
                      values[kSquares * N + k]);
        }
      },
      sums);
  if (!writes) {
    return;
  }
  float mean[N];
  float variance[N];
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    const JoinedMoments moments =
        joined(elements_of_channel(tiling), first[k], sums[kMean * N + k], sums[kSquares * N + k]);
    mean[k] = moments.mean;
    variance[k] = moments.variance;
  }
  store_channels(tiling, packs.channel, mean, to.mean);
  store_channels(tiling, packs.channel, variance, to.variance);
}

/// The moments of a chunk; the last block of a tile computes those of the layer. All sums are of
/// differences from a channel's first element in the chunk. The cancellation in the sum of squares
/// is then bounded by the number of elements if that element is an outlier, and otherwise
/// negligible.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes) moments_kernel(Statistics to, const T* x) {
  const ChannelTiling& tiling = to.joined.tiling;
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
  if (join_block<kMoments, N>(tiling, packs, sums)) {
    const float count = elements_in(tiling, chunk);
    float mean[N];
    float squares[N];
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      const float mean_difference = sums[k] / count;
      mean[k] = shift[k] + mean_difference;
      squares[k] = not_negative(sums[N + k] - sums[k] * mean_difference);
    }
    store_partial(tiling, packs, chunk, kMoments, kMean, mean, to.partials);
    store_partial(tiling, packs, chunk, kMoments, kSquares, squares, to.partials);
  }
  if (to.joined.by_last_block && is_last_block(tiling, to.tickets)) {
    join_moments_of_tile<N>(to, packs);
  }
}

__global__ void __launch_bounds__(kMostJoiningLanes) join_moments_kernel(Statistics to) {
  const ChannelTiling& tiling = to.joined.tiling;
  const float* const partials = to.partials;
  const std::int64_t channel = joined_channel();
  const float first =
      channel < tiling.channels ? partial(tiling, partials, 0, kMoments, kMean, channel) : 0.0F;
  float sums[kMoments];
  const bool writes = join_chunks(
      tiling,
      [&](unsigned chunk, float(&values)[kMoments]) {
        add_moments(elements_in(tiling, chunk),
                    partial(tiling, partials, chunk, kMoments, kMean, channel),
                    partial(tiling, partials, chunk, kMoments, kSquares, channel), first,
                    values[kMean], values[kSquares]);
      },
      sums);
  if (writes) {
    const JoinedMoments moments =
        joined(elements_of_channel(tiling), first, sums[kMean], sums[kSquares]);
    to.mean[channel] = moments.mean;
    to.variance[channel] = moments.variance;
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

/// Chunks run from the last to the first: the previous pass ended there, so the cache still holds
/// those chunks.
template <class T, int N>
__global__ void __launch_bounds__(kChannelLanes)
    normalize_kernel(Normalize<T> args, ActivationKind activation, float epsilon) {
  const ChannelTiling& tiling = args.tiling;
  const LanePacks packs = lane_packs(tiling, blockIdx.x, tiling.chunks - 1 - blockIdx.y);
  if (!has_packs(packs)) {
    return;
  }
  // y = scale * x + shift. With a large mean this loses the mean's rounding error a second time,
  // and nothing more.
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

void batch_norm_statistics(cudaStream_t stream, const BatchNormForward& args) {
  const Statistics to{.joined = joined_tiling(args.view, args.dtype),
                      .partials = static_cast<float*>(args.workspace),
                      .tickets = args.tickets,
                      .mean = args.mean,
                      .variance = args.variance};
  const ChannelTiling& tiling = to.joined.tiling;
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(tiling.pack, [&](auto pack) {
      launch(stream, {"batch_norm_moments", grid_of(tiling), block_of(tiling)},
             moments_kernel<T, decltype(pack)::value>, to, static_cast<const T*>(args.x));
    });
  });
  if (!to.joined.by_last_block) {
    launch(stream, {"batch_norm_join_moments", joining_grid(tiling), joining_block(tiling)},
           join_moments_kernel, to);
  }
}

void batch_norm_forward(cudaStream_t stream, const BatchNormForward& args) {
  batch_norm_statistics(stream, args);
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
