#pragma once

#include <limits>
#include <numeric>

#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/pool.h"
#include "models/base/errors.h"

// How the kernels of pooling walk over images and windows: included by their .cu files only.

namespace bench::cuda {

/// An axis, and how to find the windows that cover a place of the input without a division per tap.
struct PoolAxisWalk {
  PoolAxis axis;
  /// dilation / stride and dilation % stride.
  int outputs_per_tap = 0;
  int rest_per_tap = 0;
  /// Of the taps with which windows cover a place, the distance between neighbours; and how far
  /// apart their windows are.
  int period = 1;
  int outputs_per_period = 0;
};

/// Images in NHWC order. Those of an NCHW tensor are its planes, with one channel.
struct PoolWalk {
  PoolAxisWalk height;
  PoolAxisWalk width;
  /// Of neighbouring channels, which one lane works on together.
  int packs = 1;
  std::int64_t images = 1;
};

inline PoolAxisWalk walk_of(const PoolAxis& axis) {
  const int common = std::gcd(axis.stride, axis.dilation);
  return {.axis = axis,
          .outputs_per_tap = axis.dilation / axis.stride,
          .rest_per_tap = axis.dilation % axis.stride,
          .period = axis.stride / common,
          .outputs_per_period = axis.dilation / common};
}

inline PoolWalk walk_of(const Pooling& pooling, int pack) {
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

/// Calls body(type of the elements, how many of them are in a pack) for a pooling.
template <class Body>
void with_pack(const Pooling& pooling, const Body& body) {
  with_element(pooling.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (pooling.order == Order::nhwc && pooling.channels % kWidest<T> == 0) {
      body(tag, std::integral_constant<int, kWidest<T>>{});
    } else {
      body(tag, std::integral_constant<int, 1>{});
    }
  });
}

/// Lanes for places x packs of every image: x walks within an image, y over images, so that small
/// planes share blocks.
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

/// A lane's place in every image that it works on.
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

__device__ inline bool is_within(int place, int extent) {
  return static_cast<unsigned>(place) < static_cast<unsigned>(extent);
}

/// A window that covers a place of the input, and with which of its taps.
struct CoveringWindow {
  int tap;
  int output;
};

/// The one that covers it with the least tap; others follow with steps of `period` taps and
/// -outputs_per_period outputs. Its tap is beyond the kernel where there is none; its output may
/// lie outside 0..output-1.
__device__ inline CoveringWindow first_covering(const PoolAxisWalk& walk, int place) {
  const int shifted = place + walk.axis.pad_before;
  CoveringWindow window{0, shifted / walk.axis.stride};
  // From the beginning of the window to where `tap` would have to be at the place.
  int rest = shifted - window.output * walk.axis.stride;
  while (rest != 0 && window.tap < walk.axis.kernel) {
    ++window.tap;
    window.output -= walk.outputs_per_tap;
    rest -= walk.rest_per_tap;
    if (rest < 0) {
      rest += walk.axis.stride;
      --window.output;
    }
  }
  return window;
}

}  // namespace bench::cuda
