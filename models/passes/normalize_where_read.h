#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Lets the readers of a convolution's batch norm normalise it while they read. Only the
/// convolution's result and the statistics are kept. The readers are the next convolution, its
/// filter gradient and the batch norm's backward. Applies if they are the only readers and the
/// device supports all of them. Runs after fuse_batch_norm() and the backward pass, and before
/// sum_gradients_where_read().
Graph normalize_where_read(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
