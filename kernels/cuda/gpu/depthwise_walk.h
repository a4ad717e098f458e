#pragma once

#include <algorithm>

#include "kernels/cuda/gpu/channel_walk.h"
#include "kernels/cuda/gpu/depthwise.h"
#include "kernels/cuda/gpu/divisor.h"
#include "kernels/cuda/gpu/window_walk.h"

// How the kernels of depthwise convolutions share a batch; included only by their .cu files.
//
// A block has a tile of channels: `lanes_x` packs of neighbours in NHWC, one channel in NCHW. The
// `lanes_y` lanes on each pack take items: `rows` consecutive places in a column of an image.
// Neighbouring lanes have neighbouring columns, and consecutive places share most of the rows that
// their windows read.

namespace bench::cuda {

inline constexpr int kDepthwiseLanes = 256;

/// The distances between neighbours along each axis of a tensor, in elements.
struct TensorSteps {
  std::int64_t image;
  std::int64_t channel;
  std::int64_t row;
  std::int64_t column;
};

inline TensorSteps steps_of(const ChannelWindows& convolution, int height, int width) {
  const std::int64_t c = convolution.channels;
  const std::int64_t places = std::int64_t{height} * width;
  if (convolution.order == Order::nchw) {
    return {.image = c * places, .channel = places, .row = width, .column = 1};
  }
  return {.image = c * places, .channel = 1, .row = width * c, .column = c};
}

/// The windows of a convolution, and the strides of x and y.
struct DepthwiseWalk {
  WindowAxisWalk height;
  WindowAxisWalk width;
  TensorSteps x;
  TensorSteps y;
};

inline DepthwiseWalk walk_of(const ChannelWindows& convolution) {
  const WindowAxis& height = convolution.height;
  const WindowAxis& width = convolution.width;
  return {.height = walk_of(height),
          .width = walk_of(width),
          .x = steps_of(convolution, height.input, width.input),
          .y = steps_of(convolution, height.output, width.output)};
}

struct DepthwiseTiling {
  std::int64_t channels = 1;
  /// The number of channels in a tile, including those beyond the last channel.
  int pitch = 1;
  unsigned lanes_x = 1;
  unsigned lanes_y = 1;
  unsigned tiles = 1;
  unsigned chunks = 1;
  std::int64_t items = 1;
  std::int64_t items_per_chunk = 1;
  Divisor columns;
  Divisor rows_of_items;
};

/// Requests tiles of at most `most_lanes` packs and about `blocks` blocks; fewer blocks if a lane
/// would have less than `fewest` items. `place_rows` and `place_columns` are the extents of a plane
/// that items cover.
struct TilingRequest {
  int pack = 1;
  int rows = 1;
  int place_rows = 1;
  int place_columns = 1;
  int most_lanes = 1;
  std::int64_t blocks = 1;
  std::int64_t fewest = 1;
};

inline DepthwiseTiling depthwise_tiling(const ChannelWindows& convolution,
                                        const TilingRequest& request) {
  const auto divided_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const bool planes = convolution.order == Order::nchw;
  const std::int64_t row_items = divided_up(request.place_rows, request.rows);
  DepthwiseTiling tiling{.channels = convolution.channels,
                         .items = convolution.batch * row_items * request.place_columns,
                         .columns = Divisor(request.place_columns),
                         .rows_of_items = Divisor(row_items)};
  const std::int64_t packs = convolution.channels / request.pack;
  tiling.lanes_x = planes ? 1 : lanes_for(packs, request.most_lanes);
  tiling.lanes_y = kDepthwiseLanes / tiling.lanes_x;
  tiling.pitch = static_cast<int>(tiling.lanes_x) * request.pack;
  tiling.tiles = static_cast<unsigned>(divided_up(packs, tiling.lanes_x));
  const std::int64_t chunks = std::max<std::int64_t>(1, request.blocks / tiling.tiles);
  const std::int64_t per_lane =
      std::max(request.fewest, divided_up(tiling.items, chunks * tiling.lanes_y));
  tiling.items_per_chunk = per_lane * tiling.lanes_y;
  tiling.chunks = static_cast<unsigned>(divided_up(tiling.items, tiling.items_per_chunk));
  return tiling;
}

/// Blocks of one chunk are adjacent, since they read the same rows; blocks of one tile are apart.
inline LaunchShape shape_of(const char* kernel, const DepthwiseTiling& tiling, int layers = 1) {
  const std::int64_t blocks = std::int64_t{tiling.tiles} * tiling.chunks;
  return {kernel, dim3(blocks_for(blocks, 1), static_cast<unsigned>(layers)),
          dim3(tiling.lanes_x, tiling.lanes_y)};
}

/// The work of one lane.
struct DepthwiseLane {
  /// The first channel of its pack; at least `channels` for an idle lane.
  std::int64_t channel;
  unsigned chunk;
  std::int64_t first_item;
  std::int64_t end_item;
};

__device__ inline std::int64_t first_channel(const DepthwiseTiling& tiling) {
  return std::int64_t{blockIdx.x % tiling.tiles} * tiling.pitch;
}

template <int N>
__device__ DepthwiseLane my_lane(const DepthwiseTiling& tiling) {
  const unsigned chunk = blockIdx.x / tiling.tiles;
  const std::int64_t begin = chunk * tiling.items_per_chunk;
  const std::int64_t channel = first_channel(tiling) + std::int64_t{threadIdx.x} * N;
  const std::int64_t end = min(begin + tiling.items_per_chunk, tiling.items);
  return {.channel = channel,
          .chunk = chunk,
          .first_item = begin + threadIdx.y,
          .end_item = channel < tiling.channels ? end : begin};
}

/// The position of an item's first place; `row` counts items.
struct ItemPlace {
  std::int64_t image;
  int row;
  int column;
};

__device__ inline ItemPlace place_of(const DepthwiseTiling& tiling, std::int64_t item) {
  const auto number = static_cast<std::uint32_t>(item);
  const std::uint32_t line = tiling.columns.quotient(number);
  const std::uint32_t image = tiling.rows_of_items.quotient(line);
  return {.image = image,
          .row = static_cast<int>(line - image * tiling.rows_of_items.divisor()),
          .column = static_cast<int>(number - line * tiling.columns.divisor())};
}

/// Loads a pack of a plane as floats, or zeros for a place in the padding. Such a place reads its
/// nearest neighbour, so that no load waits for a branch.
template <int N, class T>
__device__ void load_place(const T* plane, const TensorSteps& steps, const WindowAxis& height,
                           const WindowAxis& width, int row, int column, float (&values)[N]) {
  const bool inside = is_within(row, height.input) && is_within(column, width.input);
  const auto loaded = load_pack<N>(plane + min(max(row, 0), height.input - 1) * steps.row +
                                   min(max(column, 0), width.input - 1) * steps.column);
  BENCH_UNROLL
  for (int k = 0; k < N; ++k) {
    values[k] = inside ? widened(loaded.values[k]) : 0.0F;
  }
}

/// Sides, strides and rows per item that kernels are compiled for. A side of 0 covers all other
/// windows, with any stride and dilation.
template <int kSideOf, int kStrideOf>
struct WindowKind {
  static constexpr int kSide = kSideOf;
  static constexpr int kStride = kStrideOf;
  static constexpr int kRows = kSideOf == 0 ? 1 : kStrideOf == 1 ? 4 : 2;
};
using AnyWindow = WindowKind<0, 0>;

/// True if kernels are compiled for the window: a square without dilation, of a known side and
/// stride.
inline bool has_kind(const ChannelWindows& convolution) {
  const WindowAxis& height = convolution.height;
  const WindowAxis& width = convolution.width;
  return height.kernel == width.kernel && height.stride == width.stride && height.dilation == 1 &&
         width.dilation == 1 && (height.kernel == 3 || height.kernel == 5) && height.stride <= 2;
}

/// Calls `body` with the window's kind.
template <class Body>
void with_kind(const ChannelWindows& convolution, const Body& body) {
  if (!has_kind(convolution)) {
    return body(AnyWindow{});
  }
  if (convolution.height.kernel == 3) {
    return convolution.height.stride == 1 ? body(WindowKind<3, 1>{}) : body(WindowKind<3, 2>{});
  }
  return convolution.height.stride == 1 ? body(WindowKind<5, 1>{}) : body(WindowKind<5, 2>{});
}

}  // namespace bench::cuda
