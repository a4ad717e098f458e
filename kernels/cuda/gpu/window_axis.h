#pragma once

#include <cstdint>

#include "kernels/cuda/gpu/view.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// H or W of a sliding window over an input; names as in Window, models/ops/conv2d.h.
struct WindowAxis {
  int input = 1;
  int output = 1;
  int kernel = 1;
  int stride = 1;
  int dilation = 1;
  int pad_before = 0;
};

/// Sliding windows over each channel of a tensor N, C, H, W. Their output is N, C, H', W' in the
/// same order.
struct ChannelWindows {
  DType dtype = DType::f32;
  Order order = Order::nhwc;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  WindowAxis height = {};
  WindowAxis width = {};
};

}  // namespace bench::cuda
