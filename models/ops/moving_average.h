#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct MovingAverageAttributes {
  double decay = 0.999;
  /// Multiplies what is fed in: n / (n - 1) makes a biased variance unbiased.
  double factor = 1;
  bool operator==(const MovingAverageAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const MovingAverageAttributes& attributes);

/// (running, batch) -> decay * running + (1 - decay) * factor * batch.
extern const OpDef kMovingAverage;

}  // namespace bench
