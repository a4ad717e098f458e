#pragma once

#include <array>
#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

/// Rows and columns (H, W) of zeros added on each side; a negative number takes away as many.
struct SpatialPadAttributes {
  std::array<std::int64_t, 2> before{0, 0};
  std::array<std::int64_t, 2> after{0, 0};
  bool operator==(const SpatialPadAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const SpatialPadAttributes& attributes);

/// (x[N,C,H,W]) -> y[N,C,H+before+after,W+before+after].
extern const OpDef kSpatialPad;

}  // namespace bench
