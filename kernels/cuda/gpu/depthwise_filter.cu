#include "kernels/cuda/gpu/channel_sums.h"
#include "kernels/cuda/gpu/depthwise.h"
#include "kernels/cuda/gpu/depthwise_walk.h"

namespace bench::cuda {
namespace {

/// A lane holds the sums of all taps of its channels. Packs of 4 bytes leave registers for them,
/// and a warp still reads 128 adjacent bytes.
constexpr std::int64_t kPackBytes = 4;
constexpr int kLanesOnChannels = 32;
/// Fewer items do not pay for joining the lanes of a block.
constexpr std::int64_t kFewestItems = 4;

template <class T>
struct Filter {
  DepthwiseTiling tiling;
  DepthwiseWalk walk;
  const T* dy;
  const T* x;
  /// Layout: [chunk][tap][channel].
  float* partials;
};

/// The dy values of an item's places; missing places count as zero.
template <int kRows, int N, class T>
__device__ void load_gradients(const Filter<T>& args, std::int64_t at, int first_row,
                               float (&values)[kRows][N]) {
  const int rows = args.walk.height.axis.output;
  BENCH_UNROLL
  for (int row = 0; row < kRows; ++row) {
    const bool inside = first_row + row < rows;
    const auto loaded =
        load_pack<N>(args.dy + at + min(first_row + row, rows - 1) * args.walk.y.row);
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      values[row][k] = inside ? widened(loaded.values[k]) : 0.0F;
    }
  }
}

template <int N>
__device__ void store_sums(const DepthwiseTiling& tiling, const DepthwiseLane& lane, int taps,
                           int tap, const float (&sums)[N], float* partials) {
  store_floats(partials + (static_cast<std::int64_t>(lane.chunk) * taps + tap) * tiling.channels +
                   lane.channel,
               sums);
}

/// A chunk's sums of all taps.
template <class Kind, class T, int N>
__global__ void __launch_bounds__(kDepthwiseLanes) depthwise_filter_kernel(Filter<T> args) {
  constexpr int kSide = Kind::kSide;
  constexpr int kReach = (Kind::kRows - 1) * Kind::kStride + kSide;
  const DepthwiseTiling& tiling = args.tiling;
  const WindowAxis& height = args.walk.height.axis;
  const WindowAxis& width = args.walk.width.axis;
  const DepthwiseLane lane = my_lane<N>(tiling);
  float sums[kSide][kSide * N] = {};
  for (std::int64_t item = lane.first_item; item < lane.end_item; item += tiling.lanes_y) {
    const ItemPlace place = place_of(tiling, item);
    const int first_row = place.row * Kind::kRows;
    float gradients[Kind::kRows][N];
    load_gradients(args,
                   place.image * args.walk.y.image + lane.channel * args.walk.y.channel +
                       place.column * args.walk.y.column,
                   first_row, gradients);
    const T* const plane =
        args.x + place.image * args.walk.x.image + lane.channel * args.walk.x.channel;
    const int top = first_row * Kind::kStride - height.pad_before;
    const int left = place.column * Kind::kStride - width.pad_before;
    BENCH_UNROLL
    for (int tap_column = 0; tap_column < kSide; ++tap_column) {
      BENCH_UNROLL
      for (int reached = 0; reached < kReach; ++reached) {
        float values[N];
        load_place(plane, args.walk.x, height, width, top + reached, left + tap_column, values);
        BENCH_UNROLL
        for (int row = 0; row < Kind::kRows; ++row) {
          const int tap_row = reached - row * Kind::kStride;
          if (tap_row < 0 || tap_row >= kSide) {
            continue;
          }
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            float& sum = sums[tap_row][tap_column * N + k];
            sum = fmaf(values[k], gradients[row][k], sum);
          }
        }
      }
    }
  }
  BENCH_UNROLL
  for (int tap_row = 0; tap_row < kSide; ++tap_row) {
    // All lanes have read the previous row.
    __syncthreads();
    join_lanes<kDepthwiseLanes>(threadIdx.y * tiling.lanes_x + threadIdx.x, tiling.lanes_x,
                                tiling.lanes_y, sums[tap_row]);
  }
  if (threadIdx.y > 0 || lane.channel >= tiling.channels) {
    return;
  }
  BENCH_UNROLL
  for (int tap_row = 0; tap_row < kSide; ++tap_row) {
    BENCH_UNROLL
    for (int tap_column = 0; tap_column < kSide; ++tap_column) {
      float values[N];
      BENCH_UNROLL
      for (int k = 0; k < N; ++k) {
        values[k] = sums[tap_row][tap_column * N + k];
      }
      store_sums(tiling, lane, kSide * kSide, tap_row * kSide + tap_column, values, args.partials);
    }
  }
}

/// The sum of one tap, selected by the block's y, for any kind of window.
template <class T, int N>
__global__ void __launch_bounds__(kDepthwiseLanes) depthwise_tap_kernel(Filter<T> args) {
  const DepthwiseTiling& tiling = args.tiling;
  const WindowAxis& height = args.walk.height.axis;
  const WindowAxis& width = args.walk.width.axis;
  const auto tap = static_cast<int>(blockIdx.y);
  const int tap_row = tap / width.kernel;
  const int tap_column = tap - tap_row * width.kernel;
  const DepthwiseLane lane = my_lane<N>(tiling);
  float sums[N] = {};
  for (std::int64_t item = lane.first_item; item < lane.end_item; item += tiling.lanes_y) {
    const ItemPlace place = place_of(tiling, item);
    float gradients[1][N];
    load_gradients(args,
                   place.image * args.walk.y.image + lane.channel * args.walk.y.channel +
                       place.column * args.walk.y.column,
                   place.row, gradients);
    float values[N];
    load_place(
        args.x + place.image * args.walk.x.image + lane.channel * args.walk.x.channel, args.walk.x,
        height, width, place.row * height.stride + tap_row * height.dilation - height.pad_before,
        place.column * width.stride + tap_column * width.dilation - width.pad_before, values);
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      sums[k] = fmaf(values[k], gradients[0][k], sums[k]);
    }
  }
  join_lanes<kDepthwiseLanes>(threadIdx.y * tiling.lanes_x + threadIdx.x, tiling.lanes_x,
                              tiling.lanes_y, sums);
  if (threadIdx.y == 0 && lane.channel < tiling.channels) {
    store_sums(tiling, lane, height.kernel * width.kernel, tap, sums, args.partials);
  }
}

/// Joins the chunks of [chunk][tap][channel] into [channel][tap]. In `tiling`, each pair of tap and
/// channel is one channel.
__global__ void __launch_bounds__(kMostJoiningLanes)
    join_filters_kernel(ChannelTiling tiling, int taps, const float* partials, float* dw) {
  const std::int64_t place = joined_channel();
  float sums[1];
  const bool writes = join_chunks(
      tiling,
      [&](unsigned chunk, float(&values)[1]) {
        values[0] = partial(tiling, partials, chunk, 1, 0, place);
      },
      sums);
  if (writes) {
    const std::int64_t channels = tiling.channels / taps;
    const std::int64_t tap = place / channels;
    dw[(place - tap * channels) * taps + tap] = sums[0];
  }
}

int filter_pack(const ChannelWindows& convolution) {
  const auto pack =
      static_cast<int>(kPackBytes / static_cast<std::int64_t>(size_of(convolution.dtype)));
  return convolution.order == Order::nchw || convolution.channels % pack != 0 ? 1 : pack;
}

DepthwiseTiling filter_tiling(const ChannelWindows& convolution) {
  int rows = 1;
  with_kind(convolution, [&](auto kind) { rows = decltype(kind)::kRows; });
  return depthwise_tiling(convolution, {.pack = filter_pack(convolution),
                                        .rows = rows,
                                        .place_rows = convolution.height.output,
                                        .place_columns = convolution.width.output,
                                        .most_lanes = kLanesOnChannels,
                                        .blocks = kBlocksForSums,
                                        .fewest = kFewestItems});
}

int taps_of(const ChannelWindows& convolution) {
  return convolution.height.kernel * convolution.width.kernel;
}

template <class T, int N>
void enqueue_sums(cudaStream_t stream, const DepthwiseFilter& args, const DepthwiseTiling& tiling) {
  const Filter<T> filter{.tiling = tiling,
                         .walk = walk_of(args.convolution),
                         .dy = static_cast<const T*>(args.dy),
                         .x = static_cast<const T*>(args.x),
                         .partials = static_cast<float*>(args.workspace)};
  with_kind(args.convolution, [&](auto kind) {
    using Kind = decltype(kind);
    if constexpr (Kind::kSide > 0) {
      launch(stream, shape_of("depthwise_filter", tiling), depthwise_filter_kernel<Kind, T, N>,
             filter);
    } else {
      launch(stream, shape_of("depthwise_tap", tiling, taps_of(args.convolution)),
             depthwise_tap_kernel<T, N>, filter);
    }
  });
}

}  // namespace

std::size_t depthwise_filter_workspace_bytes(const ChannelWindows& convolution) {
  const auto taps = static_cast<std::size_t>(taps_of(convolution));
  return filter_tiling(convolution).chunks * taps * static_cast<std::size_t>(convolution.channels) *
         sizeof(float);
}

int depthwise_filter_reads(const ChannelWindows& convolution) {
  return has_kind(convolution) ? 1 : taps_of(convolution);
}

void depthwise_filter(cudaStream_t stream, const DepthwiseFilter& args) {
  check(has_depthwise(args.convolution), "cuda: no kernel for this depthwise convolution");
  const DepthwiseTiling tiling = filter_tiling(args.convolution);
  with_element(args.convolution.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = static_cast<int>(kPackBytes / sizeof(T));
    if (kPack == 1 || filter_pack(args.convolution) == 1) {
      enqueue_sums<T, 1>(stream, args, tiling);
    } else if constexpr (kPack > 1) {
      enqueue_sums<T, kPack>(stream, args, tiling);
    }
  });
  const int taps = taps_of(args.convolution);
  const ChannelTiling places{.channels = args.convolution.channels * taps, .chunks = tiling.chunks};
  launch(stream, {"depthwise_join_filters", joining_grid(places), joining_block(places)},
         join_filters_kernel, places, taps, static_cast<const float*>(args.workspace), args.dw);
}

}  // namespace bench::cuda
