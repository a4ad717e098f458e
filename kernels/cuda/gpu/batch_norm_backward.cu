#include "kernels/cuda/gpu/activation.h"
#include "kernels/cuda/gpu/batch_norm.h"
#include "kernels/cuda/gpu/last_block.h"

namespace bench::cuda {
namespace {

/// Blocks per multiprocessor that the register limit must allow. With that many lanes, one pack in
/// flight of each of the two to four tensors covers the memory's latency.
constexpr int kBlocksAtOnce = 3;

/// Partial sums of dz, and of dz * (x - mean).
enum Sum : int { kOfGradient, kOfProduct, kSums };

/// x, and the sources of dz.
template <class T>
struct Gradient {
  const T* dy;
  /// May be null.
  const T* second_dy;
  const T* x;
  /// Null without an activation.
  const T* y;
};

template <class T, int N>
struct GradientPacks {
  Pack<T, N> dy;
  Pack<T, N> second_dy;
  Pack<T, N> x;
  Pack<T, N> y;
};

template <int N, class T>
__device__ GradientPacks<T, N> load_gradient(const Gradient<T>& from, std::int64_t offset) {
  GradientPacks<T, N> packs = {};
  packs.dy = load_pack<N>(from.dy + offset);
  packs.x = load_pack<N>(from.x + offset);
  if (from.second_dy != nullptr) {
    packs.second_dy = load_pack<N>(from.second_dy + offset);
  }
  if (from.y != nullptr) {
    packs.y = load_pack<N>(from.y + offset);
  }
  return packs;
}

/// Recomputes the activation's input from x for a lane's channels, with exactly the two factors of
/// normalize_kernel.
template <int N>
struct Normalization {
  /// gamma divided by the deviation.
  float scale[N];
  float shift[N];
};

template <int N>
__device__ void load_shift(const ChannelTiling& tiling, std::int64_t channel, const float* beta,
                           const float (&mean)[N], Normalization<N>& norm) {
  load_channels(tiling, channel, beta, 0.0F, norm.shift);
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    norm.shift[k] = fmaf(-mean[k], norm.scale[k], norm.shift[k]);
  }
}

/// Applies the slope at y. If `norm` recomputes y, the slope is at y rounded as it would be stored.
template <bool kFromX, class T, int N>
__device__ void compute_dz(const Gradient<T>& from, ActivationKind activation,
                           const Normalization<N>& norm, const GradientPacks<T, N>& packs,
                           float (&dz)[N]) {
  to_floats(packs.dy, dz);
  if (from.second_dy != nullptr) {
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      dz[k] += widened(packs.second_dy.values[k]);
    }
  }
  with_activation(activation, [&](auto tag) {
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      float y = widened(packs.y.values[k]);
      if constexpr (kFromX) {
        const float normalised = fmaf(widened(packs.x.values[k]), norm.scale[k], norm.shift[k]);
        y = widened(narrowed<T>(activated(decltype(tag)::value, normalised)));
      }
      dz[k] *= activation_slope(decltype(tag)::value, y);
    }
  });
}

/// A layer's sums, and how blocks obtain them.
struct JoinedSums {
  JoinedTiling joined;
  float* partials;
  unsigned* tickets;
  const float* variance;
  float epsilon;
  float* dbeta;
  float* dgamma;
};

__device__ inline float dgamma_of(const JoinedSums& to, float products, float variance) {
  return products / sqrtf(variance + to.epsilon);
}

/// The work of a tile's last block.
template <int N>
__device__ void join_gradients_of_tile(const JoinedSums& to, const LanePacks& packs) {
  const ChannelTiling& tiling = to.joined.tiling;
  float sums[kSums * N];
  const bool writes = join_chunks_of_tile<kSums, N>(
      tiling, packs,
      [&](unsigned chunk, float(&values)[kSums * N]) {
        BENCH_UNROLL
        for (int sum = 0; sum < kSums; ++sum) {
          float of_sum[N] = {};
          load_partial(tiling, packs, chunk, kSums, sum, to.partials, of_sum);
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            values[sum * N + k] = of_sum[k];
          }
        }
      },
      sums);
  if (!writes) {
    return;
  }
  float variance[N];
  load_channels(tiling, packs.channel, to.variance, 1.0F, variance);
  float dbeta[N];
  float dgamma[N];
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    dbeta[k] = sums[kOfGradient * N + k];
    dgamma[k] = dgamma_of(to, sums[kOfProduct * N + k], variance[k]);
  }
  store_channels(tiling, packs.channel, dbeta, to.dbeta);
  store_channels(tiling, packs.channel, dgamma, to.dgamma);
}

template <class T>
struct GradientSums {
  JoinedSums to;
  Gradient<T> gradient;
  const float* mean;
  /// Used if y is recomputed.
  const float* gamma;
  const float* beta;
  /// The destination of dz, or null.
  T* dz;
};

template <class T, int N, bool kFromX>
__global__ void __launch_bounds__(kChannelLanes, kBlocksAtOnce)
    gradient_sums_kernel(GradientSums<T> args, ActivationKind activation) {
  const ChannelTiling& tiling = args.to.joined.tiling;
  const LanePacks packs = lane_packs(tiling, blockIdx.x, blockIdx.y);
  float mean[N] = {};
  Normalization<N> norm = {};
  if (has_packs(packs)) {
    load_channels(tiling, packs.channel, args.mean, 0.0F, mean);
    if constexpr (kFromX) {
      float variance[N];
      load_channels(tiling, packs.channel, args.to.variance, 1.0F, variance);
      load_channels(tiling, packs.channel, args.gamma, 1.0F, norm.scale);
      BENCH_UNROLL
      for (int k = 0; k < N; ++k) {
        norm.scale[k] /= sqrtf(variance[k] + args.to.epsilon);
      }
      load_shift(tiling, packs.channel, args.beta, mean, norm);
    }
  }
  float sums[kSums * N] = {};
  for_each_pack<1>(
      packs, [&](std::int64_t offset) { return load_gradient<N>(args.gradient, offset); },
      [&](const GradientPacks<T, N>& loaded, std::int64_t offset) {
        float dz[N];
        compute_dz<kFromX>(args.gradient, activation, norm, loaded, dz);
        if (args.dz != nullptr) {
          // The second pass reads the rounded dz, and its mean must be the mean of those values.
          const Pack<T, N> rounded = to_pack<T>(dz);
          store_pack(args.dz + offset, rounded);
          to_floats(rounded, dz);
        }
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          sums[k] += dz[k];
          sums[N + k] = fmaf(dz[k], widened(loaded.x.values[k]) - mean[k], sums[N + k]);
        }
      });
  if (join_block<kSums, N>(tiling, packs, sums)) {
    BENCH_UNROLL
    for (int sum = 0; sum < kSums; ++sum) {
      float values[N];
      BENCH_UNROLL
      for (int k = 0; k < N; ++k) {
        values[k] = sums[sum * N + k];
      }
      store_partial(tiling, packs, blockIdx.y, kSums, sum, values, args.to.partials);
    }
  }
  if (args.to.joined.by_last_block && is_last_block(tiling, args.to.tickets)) {
    join_gradients_of_tile<N>(args.to, packs);
  }
}

__global__ void __launch_bounds__(kMostJoiningLanes) join_gradients_kernel(JoinedSums to) {
  const ChannelTiling& tiling = to.joined.tiling;
  const std::int64_t channel = joined_channel();
  float sums[kSums];
  const bool writes = join_chunks(
      tiling,
      [&](unsigned chunk, float(&values)[kSums]) {
        BENCH_UNROLL
        for (int sum = 0; sum < kSums; ++sum) {
          values[sum] = partial(tiling, to.partials, chunk, kSums, sum, channel);
        }
      },
      sums);
  if (writes) {
    to.dbeta[channel] = sums[kOfGradient];
    to.dgamma[channel] = dgamma_of(to, sums[kOfProduct], to.variance[channel]);
  }
}

template <class T>
struct InputGradient {
  ChannelTiling tiling;
  Gradient<T> gradient;
  T* dx;
  const float* gamma;
  const float* beta;
  const float* mean;
  const float* variance;
  const float* dbeta;
  const float* dgamma;
};

/// Chunks run from the last to the first, as in the forward.
template <class T, int N, bool kFromX>
__global__ void __launch_bounds__(kChannelLanes, kBlocksAtOnce)
    input_gradient_kernel(InputGradient<T> args, ActivationKind activation, float epsilon) {
  const ChannelTiling& tiling = args.tiling;
  const LanePacks packs = lane_packs(tiling, blockIdx.x, tiling.chunks - 1 - blockIdx.y);
  if (!has_packs(packs)) {
    return;
  }
  // dx = scale * dz + slope * (x - mean) + shift.
  Normalization<N> norm = {};
  float mean[N];
  float slope[N];
  float shift[N];
  load_channels(tiling, packs.channel, args.mean, 0.0F, mean);
  load_channels(tiling, packs.channel, args.gamma, 1.0F, norm.scale);
  load_channels(tiling, packs.channel, args.dgamma, 0.0F, slope);
  load_channels(tiling, packs.channel, args.dbeta, 0.0F, shift);
  {
    const float share = 1.0F / elements_of_channel(tiling);
    float variance[N];
    load_channels(tiling, packs.channel, args.variance, 1.0F, variance);
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      const float deviation = sqrtf(variance[k] + epsilon);
      norm.scale[k] /= deviation;
      slope[k] *= -norm.scale[k] / deviation * share;
      shift[k] *= -norm.scale[k] * share;
    }
  }
  if constexpr (kFromX) {
    load_shift(tiling, packs.channel, args.beta, mean, norm);
  }
  for_each_pack<1>(
      packs, [&](std::int64_t offset) { return load_gradient<N>(args.gradient, offset); },
      [&](const GradientPacks<T, N>& loaded, std::int64_t offset) {
        float dx[N];
        compute_dz<kFromX>(args.gradient, activation, norm, loaded, dx);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          const float of_x = fmaf(slope[k], widened(loaded.x.values[k]) - mean[k], shift[k]);
          dx[k] = fmaf(norm.scale[k], dx[k], of_x);
        }
        store_pack(args.dx + offset, to_pack<T>(dx));
      });
}

template <class T, int N, bool kFromX>
void enqueue(cudaStream_t stream, const BatchNormBackward& args, const JoinedTiling& joined,
             const ChannelTiling& to_apply) {
  const ChannelTiling& for_sums = joined.tiling;
  ActivationKind activation = args.activation;
  const bool dz_is_dy = activation == ActivationKind::none && args.second_dy == nullptr;
  Gradient<T> gradient{
      .dy = static_cast<const T*>(args.dy),
      .second_dy = static_cast<const T*>(args.second_dy),
      .x = static_cast<const T*>(args.x),
      .y = activation == ActivationKind::none ? nullptr : static_cast<const T*>(args.y)};
  auto* const dresidual = static_cast<T*>(args.dresidual);
  auto* const partials = static_cast<float*>(args.workspace);
  float* const dgamma = args.dgamma != nullptr
                            ? args.dgamma
                            : partials + partials_bytes(for_sums, kSums) / sizeof(float);
  const auto epsilon = static_cast<float>(args.epsilon);
  const JoinedSums to{.joined = joined,
                      .partials = partials,
                      .tickets = args.tickets,
                      .variance = args.variance,
                      .epsilon = epsilon,
                      .dbeta = args.dbeta,
                      .dgamma = dgamma};
  launch(stream, {"batch_norm_gradient_sums", grid_of(for_sums), block_of(for_sums)},
         gradient_sums_kernel<T, N, kFromX>,
         GradientSums<T>{.to = to,
                         .gradient = gradient,
                         .mean = args.mean,
                         .gamma = args.gamma,
                         .beta = args.beta,
                         .dz = dz_is_dy && args.dresidual == args.dy ? nullptr : dresidual},
         activation);
  if (!joined.by_last_block) {
    launch(stream, {"batch_norm_join_gradients", joining_grid(for_sums), joining_block(for_sums)},
           join_gradients_kernel, to);
  }
  if (dresidual != nullptr) {
    gradient = {.dy = dresidual, .second_dy = nullptr, .x = gradient.x, .y = nullptr};
    activation = ActivationKind::none;
  }
  launch(stream, {"batch_norm_input_gradient", grid_of(to_apply), block_of(to_apply)},
         input_gradient_kernel<T, N, kFromX>,
         InputGradient<T>{.tiling = to_apply,
                          .gradient = gradient,
                          .dx = static_cast<T*>(args.dx),
                          .gamma = args.gamma,
                          .beta = args.beta,
                          .mean = args.mean,
                          .variance = args.variance,
                          .dbeta = args.dbeta,
                          .dgamma = dgamma},
         activation, epsilon);
}

}  // namespace

std::size_t batch_norm_workspace_bytes(const View& view, DType dtype) {
  const ChannelTiling tiling = joined_tiling(view, dtype).tiling;
  // dgamma follows the partial sums if the caller does not want it.
  return partials_bytes(tiling, kSums) + static_cast<std::size_t>(view.channels) * sizeof(float);
}

std::size_t batch_norm_ticket_bytes(const View& view, DType dtype) {
  return ticket_bytes(joined_tiling(view, dtype));
}

int batch_norm_statistics_launches(const View& view, DType dtype) {
  return joined_tiling(view, dtype).by_last_block ? 1 : 2;
}

void batch_norm_backward(cudaStream_t stream, const BatchNormBackward& args) {
  const JoinedTiling joined = joined_tiling(args.view, args.dtype);
  const ChannelTiling to_apply = channel_tiling(args.view, args.dtype, kBlocksToApply);
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    with_pack<T>(to_apply.pack, [&](auto pack) {
      if (args.activation != ActivationKind::none && args.y == nullptr) {
        check(args.dresidual == nullptr, "batch_norm_backward: x does not tell y with a residual");
        enqueue<T, decltype(pack)::value, true>(stream, args, joined, to_apply);
      } else {
        enqueue<T, decltype(pack)::value, false>(stream, args, joined, to_apply);
      }
    });
  });
}

}  // namespace bench::cuda
