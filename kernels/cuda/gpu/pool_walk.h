#pragma once

#include <limits>

#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/pool.h"
#include "kernels/cuda/gpu/window_walk.h"
#include "models/base/errors.h"

// How the kernels of pooling walk over images and windows; included only by their .cu files.

namespace bench::cuda {

/// Images in NHWC order. For an NCHW tensor they are its planes, with one channel.
struct PoolWalk {
  WindowAxisWalk height;
  WindowAxisWalk width;
  /// Packs of neighbouring channels; one lane handles each pack.
  int packs = 1;
  std::int64_t images = 1;
};

inline PoolWalk walk_of(const ChannelWindows& pooling, int pack) {
  const bool planes = pooling.order == Order::nchw;
  const std::int64_t packs = planes ? 1 : pooling.channels / pack;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  for (const std::int64_t places : {std::int64_t{pooling.height.input} * pooling.width.input,
                                    std::int64_t{pooling.height.output} * pooling.width.output}) {
    check(places <= kMost / (packs * pack), "cuda: an image is too large for pooling");
  }
  return {.height = walk_of(pooling.height),
          .width = walk_of(pooling.width),
          .packs = static_cast<int>(packs),
          .images = planes ? pooling.batch * pooling.channels : pooling.batch};
}

/// Calls body(type of the elements, elements per pack) for a pooling.
template <class Body>
void with_pack(const ChannelWindows& pooling, const Body& body) {
  with_element(pooling.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (pooling.order == Order::nhwc && pooling.channels % kWidest<T> == 0) {
      body(tag, std::integral_constant<int, kWidest<T>>{});
    } else {
      body(tag, std::integral_constant<int, 1>{});
    }
  });
}

/// Lanes for places x packs of every image. In the grid, x covers an image and y covers images, so
/// that small planes share blocks.
inline LaunchShape shape_over(const char* kernel, const PoolWalk& walk, int rows, int columns) {
  constexpr unsigned kLanes = 256;
  constexpr std::int64_t kMostRows = 65535;
  const std::int64_t items = std::int64_t{rows} * columns * walk.packs;
  unsigned x = 1;
  while (x < kLanes && x < items) {
    x *= 2;
  }
  unsigned y = 1;
  while (y < kLanes / x && y < walk.images) {
    y *= 2;
  }
  const std::int64_t grid_rows = (walk.images + y - 1) / y;
  return {kernel, dim3(blocks_for(items, x), static_cast<unsigned>(std::min(grid_rows, kMostRows))),
          dim3(x, y)};
}

/// A lane's place in each of its images.
struct PoolPlace {
  bool inside;
  int row;
  int column;
  int pack;
};

__device__ inline PoolPlace my_place(const PoolWalk& walk, int rows, int columns) {
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  const auto packs = static_cast<unsigned>(walk.packs);
  const unsigned pixel = item / packs;
  const unsigned row = pixel / static_cast<unsigned>(columns);
  return {row < static_cast<unsigned>(rows), static_cast<int>(row),
          static_cast<int>(pixel - row * static_cast<unsigned>(columns)),
          static_cast<int>(item - pixel * packs)};
}

__device__ inline std::int64_t first_image() {
  return std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
}
__device__ inline std::int64_t image_step() { return std::int64_t{gridDim.y} * blockDim.y; }

}  // namespace bench::cuda
