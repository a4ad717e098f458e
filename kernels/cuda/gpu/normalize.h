#pragma once

#include <cstdint>

#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/runtime.h"
#include "models/base/normalization.h"

namespace bench::cuda {

/// Pixels in u8, NHWC, as networks read them: (pixel - mean) / deviation, each rounded in f32, then
/// to nearest, ties to even, in f32, f16 or bf16; other types throw InternalError. `pixels` and
/// `images` begin at multiples of 16 bytes. Enqueues and returns without waiting.
struct Normalize {
  Normalization range = {};
  const void* pixels = nullptr;
  /// Of the images.
  View view;
  DType dtype = DType::f32;
  void* images = nullptr;
};
void normalize(cudaStream_t stream, const Normalize& args);

}  // namespace bench::cuda
