#pragma once

#include "models/ir/graph.h"

namespace bench {

/// The graph with its gradients, starting at output `loss` times the new scalar input `loss_scale`.
/// Every trainable variable that the loss depends on gets a gradient node. Graph::add_gradient
/// records them in the order in which the gradients become final. Gradients that join at a fork are
/// added. Throws InternalError if an op on the way has no gradient rule.
Graph add_backward(const Graph& graph, const std::string& loss);

}  // namespace bench
