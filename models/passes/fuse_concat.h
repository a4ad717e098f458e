#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Lets the batch norms of an inference graph read the parts of a concat, so that nothing copies
/// them. Applies to a concat if its readers are batch norms without residual, which the device
/// supports as kConcatBatchNorm, and concats that are dropped too. Runs after fuse().
Graph fuse_concat(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
