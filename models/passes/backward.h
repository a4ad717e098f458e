#pragma once

#include "models/ir/graph.h"

namespace bench {

/// The graph with its gradients: starting at output `loss` times the input named `loss_scale`
/// (a scalar, added here), every trainable variable that the loss depends on gets a gradient node,
/// entered by Graph::add_gradient in the order in which the gradients become final. Gradients that
/// meet at a fork are added. Throws InternalError when an op on the way has no gradient rule.
Graph add_backward(const Graph& graph, const std::string& loss);

}  // namespace bench
