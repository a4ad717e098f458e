#pragma once

#include <iosfwd>
#include <optional>

#include "models/ops/batch_norm.h"
#include "models/ops/quantized.h"

namespace bench {

struct ConcatBatchNormAttributes {
  /// Without a residual.
  BatchNormAttributes norm = {};
  /// The number of parts.
  int parts = 1;
  std::optional<QuantizeAttributes> quantize = {};
  bool operator==(const ConcatBatchNormAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ConcatBatchNormAttributes& attributes);

/// (parts, [gamma], beta, mean, variance) -> y, the kBatchNormInference of the parts' kConcat. The
/// parts are x0[N,C0,H,W], x1[N,C1,H,W] and so on; y has all their channels. With `quantize`,
/// kQuantize follows.
extern const OpDef kConcatBatchNorm;
/// Positions of the inputs; the first part is at 0.
BatchNormInputs concat_batch_norm_inputs(const ConcatBatchNormAttributes& attributes);

}  // namespace bench
