#pragma once

#include <span>

#include "models/passes/quantize.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// Converts the values of a network's variables into those of its quantised graph, in double, with
/// the formula at QuantizedWeight. A weight becomes whole numbers in -127 .. 127. Throws
/// InternalError for a weight without a value.
void quantize_values(std::span<const QuantizedWeight> weights, InitialValues& values);

}  // namespace bench
