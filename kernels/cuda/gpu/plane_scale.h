#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

namespace bench::cuda {

/// y = factor * scales[batch][channels], times x unless it is null. With x it is kChannelScale of
/// models/ops/channel_scale.h. Without x and with a factor of 1 / spatial it is
/// kSpatialMeanBackward of models/ops/spatial_mean.h.
struct PlaneScale {
  View view;
  /// The type of x, the scales and y: f32, f16 or bf16; InternalError for others.
  DType dtype = DType::f32;
  /// Begins at a multiple of 16 bytes, as do the scales and y. Null means all ones.
  const void* x = nullptr;
  const void* scales = nullptr;
  double factor = 1;
  /// May be x.
  void* y = nullptr;
};
/// Enqueues and returns without waiting.
void plane_scale(cudaStream_t stream, const PlaneScale& args);

}  // namespace bench::cuda
