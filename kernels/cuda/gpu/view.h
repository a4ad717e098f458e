#pragma once

#include <cstdint>

#include "models/base/dtype.h"

namespace bench::cuda {

/// The axis of an NxCxHxW tensor that is contiguous in memory: W or C.
enum class Order : std::uint8_t { nchw, nhwc };

/// A view of an NxCxHxW tensor. An NxC tensor has spatial = 1 and is the same in both orders.
struct View {
  Order order = Order::nhwc;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  /// H * W.
  std::int64_t spatial = 1;

  [[nodiscard]] std::int64_t elements() const { return batch * channels * spatial; }
};

}  // namespace bench::cuda
