#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Lets the backward batch norm that alone reads the sum of two gradients read both instead, where
/// the device supports that: paths that meet behind a residual block need no pass of their own.
/// Runs after the backward pass.
Graph sum_gradients_where_read(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
