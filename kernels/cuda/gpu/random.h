#pragma once

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"
#include "models/ops/drop_path.h"
#include "models/ops/dropout.h"

// The draws depend only on the seed, stream, step and the element's place in canonical order, as on
// every other device. All functions enqueue and return without waiting; types are f32, f16 and
// bf16.

namespace bench::cuda {

/// kDropout and kDropoutBackward of models/ops/dropout.h. y may be x.
struct Dropout {
  DropoutAttributes attributes;
  /// In device memory. If it is negative, y = x.
  const std::int32_t* step = nullptr;
  /// For a rank other than 4, a view in canonical order with spatial = 1.
  View view;
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void dropout(cudaStream_t stream, const Dropout& args);

/// kDropPath of models/ops/drop_path.h. y may be x.
struct DropPath {
  DropPathAttributes attributes;
  /// In device memory. If it is negative, y = x.
  const std::int32_t* step = nullptr;
  std::int64_t examples = 0;
  /// The number of elements in an example.
  std::int64_t elements = 0;
  DType dtype = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;
};
void drop_path(cudaStream_t stream, const DropPath& args);

}  // namespace bench::cuda
