#pragma once

#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/base/normalization.h"

namespace bench::cuda {

/// Converts u8 pixels in NHWC to network input: (pixel - mean) / deviation, each step rounded in
/// f32. The result is rounded to nearest, ties to even, to f32, f16 or bf16. Other types throw
/// InternalError. `pixels` and `images` begin at multiples of 16 bytes. Enqueues and returns
/// without waiting.
struct Normalize {
  Normalization range = {};
  const void* pixels = nullptr;
  /// The view of the images.
  View view;
  DType dtype = DType::f32;
  void* images = nullptr;
};
void normalize(cudaStream_t stream, const Normalize& args);

}  // namespace bench::cuda
