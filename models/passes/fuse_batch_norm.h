#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Gives the batch norm that alone reads a plain convolution to that convolution, where the device
/// supports the two as one: what computes the convolution can take the statistics from its result
/// while it has it at hand. Runs behind fuse(), which gives the batch norm its own epilogue, and
/// before the backward pass.
Graph fuse_batch_norm(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
