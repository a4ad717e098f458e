#pragma once

#include <span>

#include "models/passes/fold_batch_norm.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// Turns the values of a network's variables into those of its folded graph, by the formulas at
/// FoldedBatchNorm, in double. Throws InternalError for a variable without a value.
void fold_values(std::span<const FoldedBatchNorm> folds, InitialValues& values);

}  // namespace bench
