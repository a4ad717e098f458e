#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

/// Drops whole examples of a branch (stochastic depth; Huang et al., arXiv:1603.09382). At step t
/// an example stays with probability k and is scaled by 1 / k. With a ramp, k = 1 - min(1, t /
/// ramp_steps) * (1 - keep); without one, k = keep.
struct DropPathAttributes {
  double keep = 1;
  /// 0 means no ramp.
  std::int64_t ramp_steps = 0;
  /// Same as in DropoutAttributes; the element is the example's index.
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  /// Index of the first example in the joined batch of all towers.
  std::uint64_t first_example = 0;
  bool operator==(const DropPathAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const DropPathAttributes& attributes);

/// The probability k at a step, which must not be negative.
double keep_probability(const DropPathAttributes& attributes, std::int64_t step);

/// (x[N,C,H,W], step s32 scalar) -> y; for a negative step y = x. The op is its own gradient.
extern const OpDef kDropPath;

}  // namespace bench
