#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/conv2d.h"

namespace bench::cpu {

/// The largest number of elements of a window.
inline constexpr std::size_t kMostPoolElements = 9;

/// Returns true if quantized_pool() supports the window: at most kMostPoolElements, no dilation,
/// and less padding than kernel, so that the window always covers an element.
bool pools_quanta(const Window& window);

enum class PoolKind : std::uint8_t { max, mean };

/// kMaxPool (without indices) or kAvgPool of models/ops/pool.h, on u8 or s8 in nhwc. A mean is
/// rounded to nearest, ties to even. Waits.
struct QuantizedPool {
  PoolKind kind = PoolKind::max;
  DType dtype = DType::u8;
  Window window;
  /// N x C x H x W.
  Shape x_shape;
  const void* x = nullptr;
  void* y = nullptr;
};
void quantized_pool(ThreadTeam& team, const QuantizedPool& args);

}  // namespace bench::cpu
