#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/ops/activation.h"

namespace bench::cuda {

/// Applies models/ops/epilogue.h to a result, in a separate pass: y = f(x + bias + residual).
struct ApplyEpilogue {
  View view;
  /// The type of x, residual and y: f32, f16 or bf16 (InternalError for others). They begin at
  /// multiples of 16 bytes.
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// `channels` floats; may be null.
  const float* bias = nullptr;
  /// Like x; may be null.
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  /// May be x or residual.
  void* y = nullptr;
};
/// Enqueues and returns without waiting.
void apply_epilogue(cudaStream_t stream, const ApplyEpilogue& args);

}  // namespace bench::cuda
