#pragma once

#include <iosfwd>
#include <vector>

#include "models/ir/op.h"

namespace bench {

/// Parameters of one running value.
struct Averaging {
  double decay = 0.999;
  /// Multiplies the batch's value: n / (n - 1) makes a biased variance unbiased.
  double factor = 1;
  bool operator==(const Averaging&) const = default;
};

struct MovingAverageAttributes {
  /// One per pair of inputs.
  std::vector<Averaging> pairs = {Averaging{}};
  bool operator==(const MovingAverageAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const MovingAverageAttributes& attributes);

/// (running, batch, running, batch, ...) -> for each pair, in its shape, decay * running + (1 -
/// decay) * factor * batch.
extern const OpDef kMovingAverage;

}  // namespace bench
