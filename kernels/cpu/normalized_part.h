#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cpu/channel_passes.h"

namespace bench::cpu {

/// Rows of a part of concat_batch_norm(), and their place in y. y = (x - mean) * scale + shift,
/// limited to low..high. For quanta, that is multiplied by `inverse_quantum` and rounded to
/// nearest, ties to even. The pass waits for memory, so the limits need not be template parameters.
struct NormalizedPart {
  /// The rows of x are dense.
  RowBlock block = {};
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// One float per column.
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  /// The type of x, or u8 or s8.
  DType to = DType::f32;
  float inverse_quantum = 1;
  void* y = nullptr;
  /// Elements from one row of y to the next.
  std::int64_t y_stride = 0;
};

}  // namespace bench::cpu
