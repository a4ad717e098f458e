#pragma once

#include <functional>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// A device's answer if it can run a node, with the reason if not. Passes query a device only
/// through this.
struct Support {
  bool yes = true;
  std::string why_not;
  explicit operator bool() const { return yes; }
};
using SupportQuery = std::function<Support(const Graph&, const Node&)>;

/// Copies a graph node by node. The callback gets the graph under construction and the node, whose
/// inputs already refer to that graph. It appends what it wants and returns the values for the
/// node's outputs. An empty vector drops the node; then nothing may read it. Inputs, variables,
/// outputs, updates and gradients are copied too. `variable_type`, if given, maps the variables'
/// types to their new ones.
Graph rewrite(const Graph& graph,
              const std::function<std::vector<ValueId>(Graph&, const Node&)>& replace,
              const std::function<TensorType(const TensorType&)>& variable_type = {});

/// Appends the node unchanged.
std::vector<ValueId> append(Graph& graph, const Node& node);

}  // namespace bench
