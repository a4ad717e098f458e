#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

namespace bench::cuda {

/// Changes a tensor's order, its floating type (rounding to nearest, ties to even), or both; a copy
/// if neither differs. Enqueues and returns without waiting.
///
/// Filters are views too: batch = O, channels = I, spatial = KH * KW, with OIHW as nchw and OHWI as
/// nhwc. Any other tensor is a view with spatial = 1. The types are f32, f16 and bf16, or two equal
/// types of 1, 2 or 4 bytes; a copy may have any size. Others throw InternalError. x and y begin at
/// multiples of 16 bytes and do not overlap.
struct Reorder {
  /// The view of x.
  View view;
  DType from = DType::f32;
  const void* x = nullptr;
  /// The order of y.
  Order order = Order::nhwc;
  DType to = DType::f32;
  void* y = nullptr;
};
void reorder(cudaStream_t stream, const Reorder& args);

}  // namespace bench::cuda
