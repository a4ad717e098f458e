#pragma once

#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/runtime.h"

namespace bench::cuda {

/// Brings a tensor into another order, another floating type (to nearest, ties to even), or both; a
/// copy where neither differs. Filters are views too: batch = O, channels = I, spatial = KH * KW,
/// OIHW as nchw and OHWI as nhwc; any other tensor is one of spatial = 1. The types are f32, f16
/// and bf16, or one and the same of 1, 2 or 4 bytes, of any size for a copy; others throw
/// InternalError. x and y begin at multiples of 16 bytes and do not overlap. Enqueues and returns
/// without waiting.
struct Reorder {
  /// Of x.
  View view;
  DType from = DType::f32;
  const void* x = nullptr;
  /// Of y.
  Order order = Order::nhwc;
  DType to = DType::f32;
  void* y = nullptr;
};
void reorder(cudaStream_t stream, const Reorder& args);

}  // namespace bench::cuda
