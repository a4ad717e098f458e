#pragma once

#include <span>

#include "models/passes/quantize.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// Turns the values of a network's variables into those of its quantised graph, by the formula at
/// QuantizedWeight, in double; whole numbers -127 .. 127 are what is left of a weight. Throws
/// InternalError for a weight without a value.
void quantize_values(std::span<const QuantizedWeight> weights, InitialValues& values);

}  // namespace bench
