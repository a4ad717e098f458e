#pragma once

#include "variable_mgmt/towers/towers.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// Compares a strategy's updates with those of the reference's optimizer, on up to 256 elements of
/// each variable. With LARS, it compares all elements of variables that decay, but omits those with
/// more than 1,048,576. The strategy updates twice with the gradients of its towers' last runs,
/// from the slots' first values. If it applies gradients of the previous step, it updates once
/// more, without gradients. The rates make gradient, decay and slots all visible. The reference
/// uses the sum of all towers' gradients if they are `joined`, else each tower's gradients. Returns
/// the largest difference on any tower, as a fraction of what was added up in the element: a few
/// epsilons of f32. Gradients sent in 16 bits add half an epsilon of that type for each tower but
/// one. The result is infinite if a 16-bit copy of a variable is not the rounded variable. `values`
/// are the values in a lone tower's variables; several towers are set to them. Leaves variables,
/// gradients and slots changed. With a `world`, all its processes must call it. Waits.
double largest_update_difference(Towers& towers, const StrategySettings& settings, bool joined,
                                 const InitialValues& values, World* world = nullptr);

}  // namespace bench
