#pragma once

#include <cstdint>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// A variable's first value in canonical order. Depends on the seed and the variable's name, type and
/// initializer alone, so that device, layout and placement cannot change it.
std::vector<float> initial_value(const Graph& graph, const Variable& variable, std::uint64_t seed);

}  // namespace bench
