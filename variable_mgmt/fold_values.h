#pragma once

#include <span>

#include "models/passes/fold_batch_norm.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// Converts the values of a network's variables into those of its folded graph, in double, with the
/// formulas at FoldedBatchNorm. Throws InternalError for a variable without a value.
void fold_values(std::span<const FoldedBatchNorm> folds, InitialValues& values);

}  // namespace bench
