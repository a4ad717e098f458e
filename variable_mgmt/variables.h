#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// First values in canonical order, by the variable's name.
using InitialValues = std::map<std::string, std::vector<float>>;

/// The first values of all variables of a graph, drawn by as many threads as the machine has.
InitialValues initial_values(const Graph& graph, std::uint64_t seed);

/// A variable's first value in canonical order. Depends on the seed and the variable's name, type and
/// initializer alone, so that device, layout and placement cannot change it.
std::vector<float> initial_value(const Graph& graph, const Variable& variable, std::uint64_t seed);

}  // namespace bench
