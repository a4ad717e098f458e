#pragma once

#include <cstddef>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/window_axis.h"
#include "models/ops/activation.h"

// Convolutions in which each channel has a separate filter and gives one channel. All functions
// enqueue and return without waiting. Tensors are f32, f16 or bf16 (InternalError for others) and
// begin at multiples of 16 bytes. Sums are made in f32, and the same input gives the same bits.

namespace bench::cuda {

// The windows go over x; y is their output. The filter is C, KH, KW in either order.

/// A block keeps its channels' filters in shared memory; larger filters do not fit.
inline constexpr int kMostDepthwiseTaps = 64;

/// True if kernels support it: the filter fits, and a batch has fewer than 2^31 places.
bool has_depthwise(const ChannelWindows& convolution);

/// y = f(x * filter + bias + residual).
struct DepthwiseForward {
  ChannelWindows convolution = {};
  const void* x = nullptr;
  const void* filter = nullptr;
  /// `channels` floats; may be null.
  const float* bias = nullptr;
  /// Like y; may be null.
  const void* residual = nullptr;
  ActivationKind activation = ActivationKind::none;
  void* y = nullptr;
};
void depthwise_forward(cudaStream_t stream, const DepthwiseForward& args);

/// dx, from y's gradient. With strides of 1 it is a convolution with the turned filter.
struct DepthwiseData {
  ChannelWindows convolution = {};
  const void* dy = nullptr;
  const void* filter = nullptr;
  void* dx = nullptr;
};
void depthwise_data(cudaStream_t stream, const DepthwiseData& args);

/// Scratch of depthwise_filter, in bytes, written and read once; its contents need not be
/// preserved.
std::size_t depthwise_filter_workspace_bytes(const ChannelWindows& convolution);
/// How often depthwise_filter reads dy and x: once, or once per tap if no kernel holds all sums of
/// a filter.
int depthwise_filter_reads(const ChannelWindows& convolution);

/// dw, `channels` times KH times KW floats, from y's gradient. Blocks make partial sums that a
/// second kernel joins.
struct DepthwiseFilter {
  ChannelWindows convolution = {};
  const void* dy = nullptr;
  const void* x = nullptr;
  float* dw = nullptr;
  /// 16-byte aligned.
  void* workspace = nullptr;
};
void depthwise_filter(cudaStream_t stream, const DepthwiseFilter& args);

}  // namespace bench::cuda
