#pragma once

#include "models/ir/graph.h"

namespace bench {

/// Gathers all moving averages into one node at the end of the graph, if only their updates read
/// them. A network has two per batch norm, each too small to be worth a separate launch. Runs
/// before the backward pass, which appends to the graph.
Graph gather_moving_averages(const Graph& graph);

}  // namespace bench
