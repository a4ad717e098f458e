#include "models/passes/rewrite.h"

#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

}  // namespace

std::vector<ValueId> append(Graph& graph, const Node& node) {
  return graph.add_node(*node.op, node.name, node.attributes, node.inputs);
}

Graph rewrite(const Graph& graph,
              const std::function<std::vector<ValueId>(Graph&, const Node&)>& replace,
              const std::function<TensorType(const TensorType&)>& variable_type) {
  Graph result;
  std::vector<ValueId> renamed(graph.values().size());
  const auto name = [&](ValueId id) {
    check(renamed[at(id)].valid(),
          cat("rewrite: ", graph.value(id).name, " was dropped but is still read"));
    return renamed[at(id)];
  };
  for (const ValueId id : graph.inputs()) {
    renamed[at(id)] = result.add_input(graph.value(id).name, graph.type(id));
  }
  for (const Variable& variable : graph.variables()) {
    const TensorType& type = graph.type(variable.value);
    renamed[at(variable.value)] = result.add_variable(graph.value(variable.value).name,
                                                      variable_type ? variable_type(type) : type,
                                                      variable.role, variable.initial);
  }
  for (const Node& node : graph.nodes()) {
    Node copy = node;
    bool complete = true;
    for (ValueId& input : copy.inputs) {
      complete = complete && renamed[at(input)].valid();
      input = renamed[at(input)];
    }
    check(complete, cat("rewrite: ", node.name, " reads a value that was dropped"));
    const std::vector<ValueId> outputs = replace(result, copy);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      renamed[at(node.outputs[i])] = outputs[i];
    }
  }
  for (const auto& [output, id] : graph.outputs()) {
    result.set_output(output, name(id));
  }
  for (const auto& pair : graph.updates()) {
    result.add_update(name(pair.variable), name(pair.value));
  }
  for (const auto& pair : graph.gradients()) {
    result.add_gradient(name(pair.variable), name(pair.value));
  }
  return result;
}

}  // namespace bench
