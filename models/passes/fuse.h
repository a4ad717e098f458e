#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Moves bias, residual sum and activation into the epilogue of the convolution, fully connected
/// layer or batch norm that produces their input, where that result has no other reader and the
/// device supports the fused form. Runs before the backward pass: a fused node's gradient rule
/// appends its fused backward.
Graph fuse(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
