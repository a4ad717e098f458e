#pragma once

#include "models/passes/rewrite.h"

namespace bench {

/// Fuses a plain convolution with the batch norm that is its only reader, if the device supports
/// that. The fused kernel can compute the statistics while it writes the result. Runs after fuse(),
/// which gives the batch norm its epilogue, and before the backward pass.
Graph fuse_batch_norm(const Graph& graph, const SupportQuery& supports);

}  // namespace bench
