#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Lets a backward batch norm that is the only reader of a sum of two gradients read both terms
/// instead. Applies if the device supports it. The paths that join after a residual block then need
/// no separate pass. Runs after the backward pass.
Graph sum_gradients_where_read(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
