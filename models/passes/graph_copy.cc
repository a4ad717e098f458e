#include "models/passes/graph_copy.h"

#include "models/base/errors.h"
#include "models/passes/rewrite.h"

namespace bench {

void GraphCopy::add_inputs() {
  for (const ValueId id : from_.inputs()) {
    (*this)[id] = graph_.add_input(from_.value(id).name, from_.type(id));
  }
}

void GraphCopy::add_variables() {
  for (const Variable& variable : from_.variables()) {
    add_variable(variable, from_.type(variable.value));
  }
}

void GraphCopy::add_variable(const Variable& variable, const TensorType& type) {
  (*this)[variable.value] =
      graph_.add_variable(from_.value(variable.value).name, type, variable.role, variable.initial);
}

Node GraphCopy::renamed(const Node& node) {
  Node copy = node;
  for (ValueId& input : copy.inputs) {
    input = needed(input);
  }
  return copy;
}

void GraphCopy::append_node(const Node& node) { set_outputs(node, append(graph_, renamed(node))); }

void GraphCopy::set_outputs(const Node& node, const std::vector<ValueId>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    (*this)[node.outputs[i]] = results[i];
  }
}

void GraphCopy::add_outputs() {
  for (const auto& [name, id] : from_.outputs()) {
    graph_.set_output(name, needed(id));
  }
}

void GraphCopy::add_updates_and_gradients() {
  for (const auto& [variable, value] : from_.updates()) {
    graph_.add_update(needed(variable), needed(value));
  }
  for (const auto& [variable, value] : from_.gradients()) {
    graph_.add_gradient(needed(variable), needed(value));
  }
}

ValueId GraphCopy::needed(ValueId id) {
  check((*this)[id].valid(),
        fmt::format("graph copy: {} was dropped but is still read", from_.value(id).name));
  return (*this)[id];
}

}  // namespace bench
