#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

/// Drops whole examples of a branch (stochastic depth; Huang et al., arXiv:1603.09382). At step t
/// an example stays with probability k = 1 - min(1, t / ramp_steps) * (1 - keep), without a ramp k
/// = keep, and is scaled by 1 / k.
struct DropPathAttributes {
  double keep = 1;
  /// 0: no ramp.
  std::int64_t ramp_steps = 0;
  /// As in DropoutAttributes; the element is the example's index.
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  /// Index of the first example in the joined batch of all towers.
  std::uint64_t first_example = 0;
  bool operator==(const DropPathAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const DropPathAttributes& attributes);

/// k of a step that is not negative.
double keep_probability(const DropPathAttributes& attributes, std::int64_t step);

/// (x[N,C,H,W], step s32 scalar) -> y; with a negative step y = x. Its own gradient.
extern const OpDef kDropPath;

}  // namespace bench
