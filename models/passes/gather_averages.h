#pragma once

#include "models/ir/graph.h"

namespace bench {

/// Lets one node update all moving averages that nothing but their updates read, at the end of what
/// there is: a network has two per batch norm, each too small to be worth a launch of its own. Runs
/// before the backward pass, which follows what there is.
Graph gather_moving_averages(const Graph& graph);

}  // namespace bench
