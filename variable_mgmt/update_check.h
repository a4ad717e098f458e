#pragma once

#include "variable_mgmt/strategy.h"

namespace bench {

/// Lets a strategy update its tower's variables twice with the gradients of the last run, from the
/// slots' first values and with rates at which gradient, decay and slots all show, and repeats it
/// with the reference's optimizer on up to 256 elements of each variable. Returns the largest
/// difference between the two, as a share of what was added up in the element: a few epsilons of
/// f32; infinite where a variable's copy in 16 bits is not the variable, rounded. `values` is what
/// the variables hold. Leaves variables and slots changed; waits.
double largest_update_difference(Tower& tower, UpdateStrategy& strategy,
                                 const OptimizerSettings& settings, const InitialValues& values);

}  // namespace bench
