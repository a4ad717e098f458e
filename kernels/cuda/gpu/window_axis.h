#pragma once

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

}  // namespace bench::cuda
