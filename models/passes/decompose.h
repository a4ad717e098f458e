#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Takes apart every fused node that the device cannot run, until only nodes that it can run or
/// that have no parts are left.
Graph decompose_unsupported(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
