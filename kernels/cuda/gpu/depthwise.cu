#include "kernels/cuda/gpu/depthwise.h"

#include <limits>

#include "kernels/cuda/gpu/activation.h"
#include "kernels/cuda/gpu/depthwise_walk.h"

namespace bench::cuda {
namespace {

/// A block's lanes across channels. A run of 16 packs of 16 bytes is long enough, and needs few
/// filters.
constexpr int kLanesOnChannels = 16;
/// Enough that each block reuses its filters for a while and the last blocks leave no gap.
constexpr std::int64_t kBlocks = 8192;
constexpr std::int64_t kFewestItems = 2;

/// Copies the filters of a block's channels to shared memory, [tap][channel of the tile] in f32. In
/// global memory the taps of a channel are adjacent. If `turned`, the last tap is first.
template <class T>
__device__ void stage_filters(const DepthwiseTiling& tiling, const T* filter, int taps, bool turned,
                              float* staged) {
  const std::int64_t first = first_channel(tiling);
  const auto channels = static_cast<int>(min(std::int64_t{tiling.pitch}, tiling.channels - first));
  const int lanes = static_cast<int>(tiling.lanes_x * tiling.lanes_y);
  const int lane = static_cast<int>(threadIdx.y * tiling.lanes_x + threadIdx.x);
  for (int i = lane; i < channels * taps; i += lanes) {
    const int channel = i / taps;
    const int tap = i - channel * taps;
    staged[(turned ? taps - 1 - tap : tap) * tiling.pitch + channel] =
        widened(filter[first * taps + i]);
  }
  __syncthreads();
}

template <class T>
struct Forward {
  DepthwiseTiling tiling;
  DepthwiseWalk walk;
  const T* x;
  const T* filter;
  bool turned;
  const float* bias;
  const T* residual;
  T* y;
};

/// Adds the values in an item's windows to the sums of its rows. For a compiled kind, all loads of
/// a column of taps are in flight together, and each serves every row that uses it.
template <class Kind, class T, int N>
__device__ void add_windows(const DepthwiseWalk& walk, const T* plane, int top, int left,
                            const float* taps, int pitch, float (&sums)[Kind::kRows][N]) {
  const WindowAxis& height = walk.height.axis;
  const WindowAxis& width = walk.width.axis;
  if constexpr (Kind::kSide == 0) {
    for (int tap_row = 0; tap_row < height.kernel; ++tap_row) {
      for (int tap_column = 0; tap_column < width.kernel; ++tap_column) {
        float tap[N];
        float values[N];
        load_floats(taps + (tap_row * width.kernel + tap_column) * pitch, tap);
        load_place(plane, walk.x, height, width, top + tap_row * height.dilation,
                   left + tap_column * width.dilation, values);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          sums[0][k] = fmaf(values[k], tap[k], sums[0][k]);
        }
      }
    }
  } else {
    constexpr int kSide = Kind::kSide;
    constexpr int kReach = (Kind::kRows - 1) * Kind::kStride + kSide;
    BENCH_UNROLL
    for (int tap_column = 0; tap_column < kSide; ++tap_column) {
      float tap[kSide][N];
      BENCH_UNROLL
      for (int tap_row = 0; tap_row < kSide; ++tap_row) {
        load_floats(taps + (tap_row * kSide + tap_column) * pitch, tap[tap_row]);
      }
      BENCH_UNROLL
      for (int reached = 0; reached < kReach; ++reached) {
        float values[N];
        load_place(plane, walk.x, height, width, top + reached, left + tap_column, values);
        BENCH_UNROLL
        for (int row = 0; row < Kind::kRows; ++row) {
          const int tap_row = reached - row * Kind::kStride;
          if (tap_row < 0 || tap_row >= kSide) {
            continue;
          }
          BENCH_UNROLL
          for (int k = 0; k < N; ++k) {
            sums[row][k] = fmaf(values[k], tap[tap_row][k], sums[row][k]);
          }
        }
      }
    }
  }
}

template <class T, int N>
__device__ void finish(const Forward<T>& args, ActivationKind activation, std::int64_t at,
                       const float (&shift)[N], float (&sums)[N]) {
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    sums[k] += shift[k];
  }
  if (args.residual != nullptr) {
    const auto residual = load_pack<N>(args.residual + at);
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      sums[k] += widened(residual.values[k]);
    }
  }
  with_activation(activation, [&](auto tag) {
    BENCH_UNROLL
    for (int k = 0; k < N; ++k) {
      sums[k] = activated(decltype(tag)::value, sums[k]);
    }
  });
  store_pack(args.y + at, to_pack<T>(sums));
}

template <class Kind, class T, int N>
__global__ void __launch_bounds__(kDepthwiseLanes)
    depthwise_kernel(Forward<T> args, ActivationKind activation) {
  constexpr int kTaps = Kind::kSide == 0 ? kMostDepthwiseTaps : Kind::kSide * Kind::kSide;
  BENCH_SHARED(alignas(16) float, staged[kTaps * kLanesOnChannels * N]);
  const DepthwiseTiling& tiling = args.tiling;
  const WindowAxis& height = args.walk.height.axis;
  const WindowAxis& width = args.walk.width.axis;
  stage_filters(tiling, args.filter, height.kernel * width.kernel, args.turned, staged);
  const DepthwiseLane lane = my_lane<N>(tiling);
  if (lane.channel >= tiling.channels) {
    return;
  }
  float shift[N] = {};
  if (args.bias != nullptr) {
    load_floats(args.bias + lane.channel, shift);
  }
  const float* const taps = staged + threadIdx.x * N;
  for (std::int64_t item = lane.first_item; item < lane.end_item; item += tiling.lanes_y) {
    const ItemPlace place = place_of(tiling, item);
    const int first_row = place.row * Kind::kRows;
    const T* const plane =
        args.x + place.image * args.walk.x.image + lane.channel * args.walk.x.channel;
    float sums[Kind::kRows][N] = {};
    add_windows<Kind, T, N>(args.walk, plane, first_row * height.stride - height.pad_before,
                            place.column * width.stride - width.pad_before, taps, tiling.pitch,
                            sums);
    const TensorSteps& y = args.walk.y;
    const std::int64_t to = place.image * y.image + lane.channel * y.channel +
                            place.column * y.column + first_row * y.row;
    BENCH_UNROLL
    for (int row = 0; row < Kind::kRows; ++row) {
      if (first_row + row < height.output) {
        finish(args, activation, to + row * y.row, shift, sums[row]);
      }
    }
  }
}

template <class T>
struct Data {
  /// A tiling of x's places.
  DepthwiseTiling tiling;
  DepthwiseWalk walk;
  const T* dy;
  const T* filter;
  T* dx;
};

/// Each place of dx adds the contributions of the windows that cover it.
template <class T, int N>
__global__ void __launch_bounds__(kDepthwiseLanes) depthwise_data_kernel(Data<T> args) {
  BENCH_SHARED(alignas(16) float, staged[kMostDepthwiseTaps * kLanesOnChannels * N]);
  const DepthwiseTiling& tiling = args.tiling;
  const WindowAxisWalk& height = args.walk.height;
  const WindowAxisWalk& width = args.walk.width;
  const int kernel_width = width.axis.kernel;
  stage_filters(tiling, args.filter, height.axis.kernel * kernel_width, false, staged);
  const DepthwiseLane lane = my_lane<N>(tiling);
  if (lane.channel >= tiling.channels) {
    return;
  }
  const float* const taps = staged + threadIdx.x * N;
  for (std::int64_t item = lane.first_item; item < lane.end_item; item += tiling.lanes_y) {
    const ItemPlace place = place_of(tiling, item);
    const T* const plane =
        args.dy + place.image * args.walk.y.image + lane.channel * args.walk.y.channel;
    const CoveringWindow first_column = first_covering(width, place.column);
    float sums[N] = {};
    CoveringWindow row = first_covering(height, place.row);
    for (; row.tap < height.axis.kernel;
         row.tap += height.period, row.output -= height.outputs_per_period) {
      if (!is_within(row.output, height.axis.output)) {
        continue;
      }
      CoveringWindow column = first_column;
      for (; column.tap < kernel_width;
           column.tap += width.period, column.output -= width.outputs_per_period) {
        if (!is_within(column.output, width.axis.output)) {
          continue;
        }
        float tap[N];
        load_floats(taps + (row.tap * kernel_width + column.tap) * tiling.pitch, tap);
        const auto gradient =
            load_pack<N>(plane + row.output * args.walk.y.row + column.output * args.walk.y.column);
        BENCH_UNROLL
        for (int k = 0; k < N; ++k) {
          sums[k] = fmaf(widened(gradient.values[k]), tap[k], sums[k]);
        }
      }
    }
    const TensorSteps& x = args.walk.x;
    store_pack(args.dx + place.image * x.image + lane.channel * x.channel + place.row * x.row +
                   place.column * x.column,
               to_pack<T>(sums));
  }
}

/// Calls `body` with the element's type and the pack of channels.
template <class Body>
void with_channels(const ChannelWindows& convolution, const Body& body) {
  with_element(convolution.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int pack =
        convolution.order == Order::nchw ? 1 : pack_for(convolution.dtype, convolution.channels);
    with_pack<T>(pack, [&](auto constant) { body(tag, constant); });
  });
}

DepthwiseTiling tiling_over(const ChannelWindows& convolution, int pack, int rows, int place_rows,
                            int place_columns) {
  return depthwise_tiling(convolution, {.pack = pack,
                                        .rows = rows,
                                        .place_rows = place_rows,
                                        .place_columns = place_columns,
                                        .most_lanes = kLanesOnChannels,
                                        .blocks = kBlocks,
                                        .fewest = kFewestItems});
}

void enqueue_forward(cudaStream_t stream, const DepthwiseForward& args, bool turned) {
  const ChannelWindows& convolution = args.convolution;
  check(has_depthwise(convolution), "cuda: no kernel for this depthwise convolution");
  with_channels(convolution, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = decltype(pack)::value;
    const auto run = [&](auto kind) {
      using Kind = decltype(kind);
      const DepthwiseTiling tiling = tiling_over(
          convolution, kPack, Kind::kRows, convolution.height.output, convolution.width.output);
      launch(stream, shape_of("depthwise", tiling), depthwise_kernel<Kind, T, kPack>,
             Forward<T>{.tiling = tiling,
                        .walk = walk_of(convolution),
                        .x = static_cast<const T*>(args.x),
                        .filter = static_cast<const T*>(args.filter),
                        .turned = turned,
                        .bias = args.bias,
                        .residual = static_cast<const T*>(args.residual),
                        .y = static_cast<T*>(args.y)},
             args.activation);
    };
    // Channels that do not fill a 16-byte pack are rare: one kernel serves all of their windows.
    if constexpr (kPack == kWidest<T> || kPack == 1) {
      with_kind(convolution, run);
    } else {
      run(AnyWindow{});
    }
  });
}

/// The convolution that equals the data gradient if strides are 1.
ChannelWindows turned_around(const ChannelWindows& convolution) {
  const auto turn = [](const WindowAxis& axis) {
    WindowAxis turned = axis;
    turned.input = axis.output;
    turned.output = axis.input;
    turned.pad_before = axis.dilation * (axis.kernel - 1) - axis.pad_before;
    return turned;
  };
  ChannelWindows turned = convolution;
  turned.height = turn(convolution.height);
  turned.width = turn(convolution.width);
  return turned;
}

}  // namespace

bool has_depthwise(const ChannelWindows& convolution) {
  const WindowAxis& height = convolution.height;
  const WindowAxis& width = convolution.width;
  const std::int64_t places = std::max(std::int64_t{height.input} * width.input,
                                       std::int64_t{height.output} * width.output);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return height.kernel * width.kernel <= kMostDepthwiseTaps && convolution.batch > 0 &&
         places <= kMost / convolution.batch;
}

void depthwise_forward(cudaStream_t stream, const DepthwiseForward& args) {
  enqueue_forward(stream, args, false);
}

void depthwise_data(cudaStream_t stream, const DepthwiseData& args) {
  const ChannelWindows& convolution = args.convolution;
  if (convolution.height.stride == 1 && convolution.width.stride == 1) {
    return enqueue_forward(stream,
                           {.convolution = turned_around(convolution),
                            .x = args.dy,
                            .filter = args.filter,
                            .y = args.dx},
                           true);
  }
  check(has_depthwise(convolution), "cuda: no kernel for this depthwise convolution");
  with_channels(convolution, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    constexpr int kPack = decltype(pack)::value;
    const DepthwiseTiling tiling =
        tiling_over(convolution, kPack, 1, convolution.height.input, convolution.width.input);
    launch(stream, shape_of("depthwise_data", tiling), depthwise_data_kernel<T, kPack>,
           Data<T>{.tiling = tiling,
                   .walk = walk_of(convolution),
                   .dy = static_cast<const T*>(args.dy),
                   .filter = static_cast<const T*>(args.filter),
                   .dx = static_cast<T*>(args.dx)});
  });
}

}  // namespace bench::cuda
