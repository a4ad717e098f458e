#include "models/passes/rewrite.h"

#include <utility>

#include "models/passes/graph_copy.h"

namespace bench {

std::vector<ValueId> append(Graph& graph, const Node& node) {
  return graph.add_node(*node.op, node.name, node.attributes, node.inputs);
}

Graph rewrite(const Graph& graph,
              const std::function<std::vector<ValueId>(Graph&, const Node&)>& replace,
              const std::function<TensorType(const TensorType&)>& variable_type) {
  GraphCopy copy(graph);
  copy.add_inputs();
  for (const Variable& variable : graph.variables()) {
    const TensorType& type = graph.type(variable.value);
    copy.add_variable(variable, variable_type ? variable_type(type) : type);
  }
  for (const Node& node : graph.nodes()) {
    copy.set_outputs(node, replace(copy.graph(), copy.renamed(node)));
  }
  copy.add_outputs();
  copy.add_updates_and_gradients();
  return std::move(copy.graph());
}

}  // namespace bench
