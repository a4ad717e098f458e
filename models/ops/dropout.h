#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct DropoutAttributes {
  /// Probability that an element stays; kept elements are scaled by 1 / keep.
  double keep = 0.5;
  /// Seed and stream of the Philox generator. Together with the step and the element's canonical
  /// index, they decide each element independently.
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  /// Canonical index of the first element in the joined batch of all towers.
  std::uint64_t first_element = 0;
  bool operator==(const DropoutAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const DropoutAttributes& attributes);

/// (x, step s32 scalar) -> y, any shape. Elements are numbered in canonical order, starting at
/// first_element. Element e of step t is kept if u < `keep`. The number u in [0, 1) comes from the
/// upper 24 bits of word e % 4 of philox4x32({e / 4 low, e / 4 high, stream low, t}, {seed low,
/// stream high}). For a negative step y = x.
extern const OpDef kDropout;
/// (dy, step) -> dx, with the same elements kept.
extern const OpDef kDropoutBackward;

}  // namespace bench
