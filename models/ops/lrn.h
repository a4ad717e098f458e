#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

/// Local response normalisation over channels; Krizhevsky et al. 2012, section 3.3. TensorFlow's
/// alpha, which multiplies the plain sum of squares.
struct LrnAttributes {
  std::int64_t radius = 4;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
  bool operator==(const LrnAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const LrnAttributes& attributes);

/// (x[N,C,H,W]) -> y = x / (bias + alpha * s)^beta, where s sums x^2 over the channels at most
/// `radius` away.
extern const OpDef kLrn;
/// (dy, x) -> dx.
extern const OpDef kLrnBackward;

}  // namespace bench
