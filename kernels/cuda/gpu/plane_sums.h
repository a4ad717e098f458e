#pragma once

#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/runtime.h"

namespace bench::cuda {

/// sums[batch][channels] = factor * the sum over a plane of a, or of a * b: with 1 / spatial
/// kSpatialMean of models/ops/spatial_mean.h, with two tensors kChannelScaleBackward of
/// models/ops/channel_scale.h. The same bits each time.
struct PlaneSums {
  View view;
  /// f32, f16 or bf16, of a, b and the sums; InternalError for others.
  DType dtype = DType::f32;
  /// Begins at a multiple of 16 bytes, as b and the sums do.
  const void* a = nullptr;
  /// Null: none.
  const void* b = nullptr;
  double factor = 1;
  void* sums = nullptr;
};
/// Enqueues and returns without waiting.
void plane_sums(cudaStream_t stream, const PlaneSums& args);

}  // namespace bench::cuda
