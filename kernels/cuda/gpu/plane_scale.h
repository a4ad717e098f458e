#pragma once

#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/runtime.h"

namespace bench::cuda {

/// y = factor * scales[batch][channels], times x where there is one: kChannelScale of
/// models/ops/channel_scale.h, and without x, with 1 / spatial, kSpatialMeanBackward of
/// models/ops/spatial_mean.h.
struct PlaneScale {
  View view;
  /// f32, f16 or bf16, of x, the scales and y; InternalError for others.
  DType dtype = DType::f32;
  /// Begins at a multiple of 16 bytes, as the scales and y do. Null: all ones.
  const void* x = nullptr;
  const void* scales = nullptr;
  double factor = 1;
  /// May be x.
  void* y = nullptr;
};
/// Enqueues and returns without waiting.
void plane_scale(cudaStream_t stream, const PlaneScale& args);

}  // namespace bench::cuda
