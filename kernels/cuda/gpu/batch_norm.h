#pragma once

#include <cstddef>

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

// Batch normalisation over the channels. All functions enqueue and return without waiting. Vectors
// hold `channels` floats. Tensors have view.elements() elements of `dtype`: f32, f16 or bf16
// (InternalError for others). They begin at multiples of 16 bytes. The same input gives the same
// bits.

namespace bench::cuda {

/// Scratch that batch_norm_forward and batch_norm_backward need, in bytes, 16-byte aligned. Its
/// contents need not be preserved.
std::size_t batch_norm_workspace_bytes(const View& view, DType dtype);
/// Memory, in bytes, that one batch_norm_forward or batch_norm_backward uses exclusively. It must
/// be zero before the first launch, and each launch leaves it zero. May be 0 bytes.
std::size_t batch_norm_ticket_bytes(const View& view, DType dtype);
/// Kernels that batch_norm_statistics launches: 1, or 2 if no last block joins the sums.
int batch_norm_statistics_launches(const View& view, DType dtype);
/// Kernels of batch_norm_forward or batch_norm_backward: these, and one that applies the
/// statistics.
inline int batch_norm_launches(const View& view, DType dtype) {
  return batch_norm_statistics_launches(view, dtype) + 1;
}

using BatchNormForward = bench::BatchNormForward<View>;
using BatchNormInference = bench::BatchNormInference<View>;
using BatchNormBackward = bench::BatchNormBackward<View>;

/// Reads x twice, in two launches, or three if a separate kernel joins the blocks' sums. The sums
/// are of differences from one element of a chunk. So the variance loses no precision if the mean
/// is much larger than the deviation.
void batch_norm_forward(cudaStream_t stream, const BatchNormForward& args);

/// Computes only the statistics, in the first launch or the first two. Does not use y, gamma, beta
/// and the fields that belong to them.
void batch_norm_statistics(cudaStream_t stream, const BatchNormForward& args);

/// In one pass without a workspace.
void batch_norm_inference(cudaStream_t stream, const BatchNormInference& args);

/// The activation must satisfy derivative_from_output. Makes two passes, in as many launches as the
/// forward. If there is a dresidual, the second pass reads it instead of its sources.
void batch_norm_backward(cudaStream_t stream, const BatchNormBackward& args);

}  // namespace bench::cuda
