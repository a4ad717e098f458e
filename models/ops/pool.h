#pragma once

#include <iosfwd>

#include "models/ops/conv2d.h"

namespace bench {

struct PoolAttributes {
  Window window = {};
  /// Extents of the pooled input, which the backward pass restores.
  Shape input = {};
  bool operator==(const PoolAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const PoolAttributes& attributes);

/// (x) -> (y, indices): the largest element of each window; padding never wins. `indices` is opaque
/// and shows the backward pass which element won: among equals, the first in row order.
extern const OpDef kMaxPool;
/// (dy, indices) -> dx.
extern const OpDef kMaxPoolBackward;
/// (x) -> y: the mean of each window over the elements inside the input (padding is not counted).
extern const OpDef kAvgPool;
/// (dy) -> dx.
extern const OpDef kAvgPoolBackward;

}  // namespace bench
