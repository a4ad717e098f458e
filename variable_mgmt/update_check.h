#pragma once

#include "variable_mgmt/towers.h"

namespace bench {

/// Lets a strategy update its towers' variables with the gradients of their last runs (twice; where
/// it applies those of the step before, once more with none), from the slots' first values and with
/// rates at which gradient, decay and slots all show, and repeats it with the reference's optimizer
/// on up to 256 elements of each variable: with the sum of all towers' gradients where they are
/// `joined`, else with each tower's own. Returns the largest difference between the two on any
/// tower, as a share of what was added up in the element: a few epsilons of f32, and where
/// gradients are sent in 16 bits half an epsilon of those for each tower but one; infinite where a
/// variable's copy in 16 bits is not the variable, rounded. `values` is what a lone tower's
/// variables hold, and what those of several are given. Leaves variables, gradients and slots
/// changed; waits.
double largest_update_difference(Towers& towers, const StrategySettings& settings, bool joined,
                                 const InitialValues& values);

}  // namespace bench
