#pragma once

#include <cstddef>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

// A bias per channel. All functions enqueue and return without waiting. Tensors have
// view.elements() elements of `dtype`, f32, f16 or bf16 (InternalError for others). They begin at
// multiples of 16 bytes.

namespace bench::cuda {

/// kBiasAdd of models/ops/bias_add.h: y = x + bias. y may be x.
struct BiasAdd {
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  /// `channels` floats.
  const float* bias = nullptr;
  void* y = nullptr;
};
void bias_add(cudaStream_t stream, const BiasAdd& args);

/// Scratch that bias_backward needs, in bytes; its contents need not be preserved.
std::size_t bias_backward_workspace_bytes(const View& view, DType dtype);

/// kBiasBackward: dbias, `channels` floats, is the sum of dy over all axes except the channels. The
/// same input gives the same bits.
struct BiasBackward {
  View view;
  DType dtype = DType::f32;
  const void* dy = nullptr;
  float* dbias = nullptr;
  /// 16-byte aligned.
  void* workspace = nullptr;
};
void bias_backward(cudaStream_t stream, const BiasBackward& args);

}  // namespace bench::cuda
