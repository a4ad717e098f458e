#pragma once

#include <iosfwd>

#include "models/ops/epilogue.h"

namespace bench {

struct FullyConnectedAttributes {
  Epilogue epilogue = {};
  bool operator==(const FullyConnectedAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const FullyConnectedAttributes& attributes);

/// (x[N,I], w[O,I], [bias[O]]) -> y[N,O] = x * w^T.
extern const OpDef kFullyConnected;
/// (dy[N,O], w[O,I]) -> dx[N,I].
extern const OpDef kFullyConnectedBackwardData;

struct FullyConnectedBackwardWeightsAttributes {
  bool bias = false;
  bool operator==(const FullyConnectedBackwardWeightsAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const FullyConnectedBackwardWeightsAttributes& attributes);

/// (dy[N,O], x[N,I]) -> dw[O,I], and with `bias` the bias's gradient [O].
extern const OpDef kFullyConnectedBackwardWeights;

}  // namespace bench
