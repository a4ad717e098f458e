#pragma once

#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// kSwapAxes of models/ops/swap_axes.h for the first two axes: x[A,B,C] -> y[B,A,C], where y is not
/// x. A * B must be below 2^31, else InternalError. Enqueues and returns without waiting.
struct SwapRows {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t columns = 0;
  /// A floating type, or s32.
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void swap_rows(cudaStream_t stream, const SwapRows& args);

}  // namespace bench::cuda
