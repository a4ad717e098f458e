#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Moves bias, residual sum and activation into the epilogue of the op that produces their input.
/// The op is a convolution, a fully connected layer or a batch norm. It needs a result with no
/// other reader, and a device that supports the fused form. Runs before the backward pass: a fused
/// node's gradient rule appends its fused backward.
Graph fuse(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
