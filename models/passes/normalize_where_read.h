#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Leaves the normalising of a convolution's result to who reads it: the result is kept, with the
/// statistics of its batch norm, and the one convolution that reads what the batch norm would give
/// normalises while it reads, as do that convolution's filter gradient and the batch norm's own
/// backward. So where nobody else reads it and the device supports all of these. Runs behind
/// fuse_batch_norm() and the backward pass, and before gradients that meet are given to who reads
/// them.
Graph normalize_where_read(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
