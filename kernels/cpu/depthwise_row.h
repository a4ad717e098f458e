#pragma once

#include <cstdint>

namespace bench::cpu {

/// One row of a depthwise filter over one row of y. Pixels are `block` contiguous floats.
struct DepthwiseRow {
  /// The pixels of y.
  std::int64_t pixels = 0;
  /// Floats of x from pixel to pixel of y.
  std::int64_t x_step = 0;
  std::int64_t taps = 0;
  std::int64_t block = 0;
};

}  // namespace bench::cpu
