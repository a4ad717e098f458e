#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/ops/spatial_pad.h"

namespace bench::cuda {

/// kSpatialPad of models/ops/spatial_pad.h, of any type. y has x's order and must not overlap it. A
/// line of y is W' * C elements in nhwc. It must have fewer than 2^31 elements, else InternalError.
/// Enqueues and returns without waiting.
struct SpatialPad {
  DType dtype = DType::f32;
  /// The view of x; spatial is height * width.
  View view;
  std::int64_t height = 0;
  std::int64_t width = 0;
  SpatialPadAttributes pad;
  const void* x = nullptr;
  void* y = nullptr;
};
void spatial_pad(cudaStream_t stream, const SpatialPad& args);

}  // namespace bench::cuda
