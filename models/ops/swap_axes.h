#pragma once

#include <cstddef>
#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct SwapAxesAttributes {
  /// 0 or 1: this axis and the next one are swapped.
  std::size_t first = 0;
  bool operator==(const SwapAxesAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const SwapAxesAttributes& attributes);

/// (x[A,B,C]) -> y[B,A,C] or y[A,C,B]. The first turns batch-major sequences into time-major ones,
/// and the reverse.
extern const OpDef kSwapAxes;

}  // namespace bench
