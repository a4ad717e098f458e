#pragma once

#include <vector>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// The candidates of `maker` for the node with f32 in place of f16. They run on f32 copies of the
/// f16 tensors, in their workspace, and round the results. They are for nodes for which oneDNN has
/// only reference code in f16. The backend makes the reorders between the types.
std::vector<Candidate> widened_candidates(Context& context, Backend& backend, Maker* maker,
                                          const Graph& graph, const Node& node, DataFormat format);

}  // namespace bench::onednn
