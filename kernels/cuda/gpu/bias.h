#pragma once

#include <cstddef>

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

// A bias per channel. All functions enqueue and return without waiting. Tensors have
// view.elements() elements of `dtype`, f32, f16 or bf16 (InternalError for others). They begin at
// multiples of 16 bytes.

namespace bench::cuda {

using BiasAdd = bench::BiasAdd<View>;
using BiasBackward = bench::BiasBackward<View>;

void bias_add(cudaStream_t stream, const BiasAdd& args);

/// Scratch that bias_backward needs, in bytes; its contents need not be preserved.
std::size_t bias_backward_workspace_bytes(const View& view, DType dtype);

/// The workspace is 16-byte aligned. The same input gives the same bits.
void bias_backward(cudaStream_t stream, const BiasBackward& args);

}  // namespace bench::cuda
