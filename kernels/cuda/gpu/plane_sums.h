#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

namespace bench::cuda {

/// sums[batch][channels] = factor * the sum over a plane of a, or of a * b. With one tensor and a
/// factor of 1 / spatial it is kSpatialMean of models/ops/spatial_mean.h. With two tensors it is
/// kChannelScaleBackward of models/ops/channel_scale.h. The same input gives the same bits.
struct PlaneSums {
  View view;
  /// The type of a, b and the sums: f32, f16 or bf16; InternalError for others.
  DType dtype = DType::f32;
  /// Begins at a multiple of 16 bytes, as do b and the sums.
  const void* a = nullptr;
  /// May be null.
  const void* b = nullptr;
  double factor = 1;
  void* sums = nullptr;
};
/// Enqueues and returns without waiting.
void plane_sums(cudaStream_t stream, const PlaneSums& args);

}  // namespace bench::cuda
