#pragma once

#include <cstdint>

#include "models/base/dtype.h"

namespace bench::cuda {

/// Which axis of an NxCxHxW tensor lies side by side in memory: W, or C.
enum class Order : std::uint8_t { nchw, nhwc };

/// An NxCxHxW tensor; one of NxC has spatial = 1, and is the same in both orders.
struct View {
  Order order = Order::nhwc;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  /// H * W.
  std::int64_t spatial = 1;

  [[nodiscard]] std::int64_t elements() const { return batch * channels * spatial; }
};

}  // namespace bench::cuda
