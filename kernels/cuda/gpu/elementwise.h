#pragma once

#include <cstddef>

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"

// Kernels that treat all elements alike, in any order. All functions enqueue and return without
// waiting. Tensors are f32, f16 or bf16 and begin at multiples of 16 bytes; other types throw
// InternalError.

namespace bench::cuda {

void activation(cudaStream_t stream, const Activation& args);
void activation_backward(cudaStream_t stream, const ActivationBackward& args);
void add(cudaStream_t stream, const Binary& args);
void multiply(cudaStream_t stream, const Binary& args);
/// A copy if the types are equal.
void cast(cudaStream_t stream, const Cast& args);

/// y = x, of any type. Enqueues nothing if y is x; otherwise they must not overlap.
struct Copy {
  std::size_t bytes = 0;
  const void* x = nullptr;
  void* y = nullptr;
};
void copy(cudaStream_t stream, const Copy& args);

}  // namespace bench::cuda
