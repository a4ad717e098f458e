#pragma once

#include "kernels/cuda/gpu/window_axis.h"
#include "models/ops/conv2d.h"

namespace bench::cuda {

/// H (0) or W (1) of a window over an input of the shape N, C, H, W.
inline WindowAxis window_axis(const Window& window, std::size_t axis, const Shape& x) {
  const std::int64_t input = x[2 + axis];
  return {.input = static_cast<int>(input),
          .output = static_cast<int>(window.output_extent(axis, input)),
          .kernel = static_cast<int>(window.kernel[axis]),
          .stride = static_cast<int>(window.stride[axis]),
          .dilation = static_cast<int>(window.dilation[axis]),
          .pad_before = static_cast<int>(window.pad_before[axis])};
}

/// The windows over each channel of an input of the shape N, C, H, W.
inline ChannelWindows channel_windows(const Window& window, const Shape& x, DType dtype,
                                      Order order) {
  return {.dtype = dtype,
          .order = order,
          .batch = x[0],
          .channels = x[1],
          .height = window_axis(window, 0, x),
          .width = window_axis(window, 1, x)};
}

}  // namespace bench::cuda
