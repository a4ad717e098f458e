#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/ops/lrn.h"

// Local response normalisation; types are f32, f16 and bf16. Each sum over channels runs from the
// lowest to the highest. All functions enqueue and return without waiting. A radius of more than
// 700, in images with as many channels, throws InternalError.

namespace bench::cuda {

/// True if one block handles all channels of a pixel, so that a result may overwrite an input.
bool lrn_may_overwrite(const View& view);

/// kLrn of models/ops/lrn.h. y may be x where lrn_may_overwrite.
struct Lrn {
  View view;
  LrnAttributes attributes;
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void lrn(cudaStream_t stream, const Lrn& args);

/// kLrnBackward. dx may be dy or x where lrn_may_overwrite.
struct LrnBackward {
  View view;
  LrnAttributes attributes;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  const void* x = nullptr;
  void* dx = nullptr;
};
void lrn_backward(cudaStream_t stream, const LrnBackward& args);

}  // namespace bench::cuda
