#pragma once

#include <functional>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// Whether a device can run a node, or why not; how passes learn of a device without knowing it.
struct Support {
  bool yes = true;
  std::string why_not;
  explicit operator bool() const { return yes; }
};
using SupportQuery = std::function<Support(const Graph&, const Node&)>;

/// Copies a graph node by node. The callback gets the graph under construction and the node with
/// its inputs renamed into it; it appends what it wants and returns what stands for the node's
/// outputs, or an empty vector when the node is dropped (then nothing may read it). Inputs,
/// variables, outputs, updates and gradients come along; `variable_type`, when given, turns the
/// variables' types into their new ones.
Graph rewrite(const Graph& graph,
              const std::function<std::vector<ValueId>(Graph&, const Node&)>& replace,
              const std::function<TensorType(const TensorType&)>& variable_type = {});

/// Appends the node as it is.
std::vector<ValueId> append(Graph& graph, const Node& node);

}  // namespace bench
