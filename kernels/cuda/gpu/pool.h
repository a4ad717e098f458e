#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/window_axis.h"

namespace bench::cuda {

// The windows go over x; y is their output. Both tensors, and for max_pool the winners, begin at
// multiples of 16 bytes. H'*W'*C and H*W*C fit 31 bits.

/// Bytes of the winners: for each output element, the winning tap of its window, in row order. Each
/// takes one or two bytes. All bits are set if the whole window is in the padding.
std::size_t winner_bytes(const ChannelWindows& pooling);
/// Larger windows have tap numbers that do not fit.
inline constexpr std::int64_t kMostTaps = 65535;

/// y is the largest element of each window, and the first in row order among equals. It is
/// -infinity for a window that is only padding. All launches enqueue and do not wait.
struct MaxPool {
  ChannelWindows pooling = {};
  const void* x = nullptr;
  void* y = nullptr;
  void* winners = nullptr;
};
void max_pool_forward(cudaStream_t stream, const MaxPool& args);

/// dx is the sum of dy over the windows that the element won.
struct MaxPoolBackward {
  ChannelWindows pooling = {};
  const void* dy = nullptr;
  const void* winners = nullptr;
  void* dx = nullptr;
};
void max_pool_gradient(cudaStream_t stream, const MaxPoolBackward& args);

/// y is the mean of each window over its elements inside the input; each window has at least one.
struct AvgPool {
  ChannelWindows pooling = {};
  const void* x = nullptr;
  void* y = nullptr;
};
void avg_pool_forward(cudaStream_t stream, const AvgPool& args);

/// dx is the sum, over the windows that cover the element, of dy divided by the number of the
/// window's elements inside the input.
struct AvgPoolBackward {
  ChannelWindows pooling = {};
  const void* dy = nullptr;
  void* dx = nullptr;
};
void avg_pool_gradient(cudaStream_t stream, const AvgPoolBackward& args);

}  // namespace bench::cuda
