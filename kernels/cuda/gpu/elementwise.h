#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"
#include "models/ops/activation.h"

// Kernels that treat all elements alike, in any order. All functions enqueue and return without
// waiting. Tensors are f32, f16 or bf16 and begin at multiples of 16 bytes; other types throw
// InternalError.

namespace bench::cuda {

/// kActivation of models/ops/activation.h. y may be x.
struct Activation {
  ActivationKind kind = ActivationKind::relu;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* x = nullptr;
  void* y = nullptr;
};
void activation(cudaStream_t stream, const Activation& args);

/// kActivationBackward: dx = dy * f'. dx may be dy or v.
struct ActivationBackward {
  ActivationKind kind = ActivationKind::relu;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* dy = nullptr;
  /// The forward's output if derivative_from_output(kind), else its input.
  const void* v = nullptr;
  void* dx = nullptr;
};
void activation_backward(cudaStream_t stream, const ActivationBackward& args);

/// y = a + b. y may be a or b.
struct Add {
  DType dtype = DType::f32;
  std::int64_t count = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
};
void add(cudaStream_t stream, const Add& args);

/// y = x in another type, rounded to nearest, ties to even; a copy if the types are equal. The
/// tensors must not overlap.
struct Cast {
  std::int64_t count = 0;
  DType from = DType::f32;
  const void* x = nullptr;
  DType to = DType::f32;
  void* y = nullptr;
};
void cast(cudaStream_t stream, const Cast& args);

/// y = x, of any type. Enqueues nothing if y is x; otherwise they must not overlap.
struct Copy {
  std::size_t bytes = 0;
  const void* x = nullptr;
  void* y = nullptr;
};
void copy(cudaStream_t stream, const Copy& args);

}  // namespace bench::cuda
