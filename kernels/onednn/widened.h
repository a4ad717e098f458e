#pragma once

#include <vector>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// The candidates of `maker` for the node in f32 instead of f16, for nodes that have only reference
/// code in f16. Each copies the f16 inputs to f32 in its workspace and rounds f32 results to f16
/// outputs. `backend` makes these reorders and must outlive the candidates and their kernels.
std::vector<Candidate> widened_candidates(Context& context, Backend& backend, Maker* maker,
                                          const Graph& graph, const Node& node, DataFormat format);

}  // namespace bench::onednn
