#include "models/ir/graph.h"

#include <algorithm>
#include <ostream>

#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench {

std::ostream& operator<<(std::ostream& out, const TensorType& type) {
  if (type.opaque) {
    return out << "opaque";
  }
  return out << name_of(type.dtype) << "[" << type.shape << "]";
}

ValueId Graph::add_value(Value value) {
  values_.push_back(std::move(value));
  return {static_cast<std::int32_t>(values_.size()) - 1};
}

ValueId Graph::add_input(std::string name, TensorType type) {
  const ValueId id =
      add_value({.name = std::move(name), .type = type, .origin = Value::Origin::input});
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_variable(std::string name, TensorType type, VariableRole role,
                            Initializer initial) {
  const bool taken = std::any_of(variables_.begin(), variables_.end(),
                                 [&](const Variable& v) { return value(v.value).name == name; });
  check(!taken, fmt::format("graph: two variables are named {}", name));
  const ValueId id =
      add_value({.name = std::move(name), .type = type, .origin = Value::Origin::variable});
  variables_.push_back({.value = id, .role = role, .initial = initial});
  return id;
}

std::vector<ValueId> Graph::add_node(const OpDef& op, std::string name, Attributes attributes,
                                     std::vector<ValueId> inputs) {
  std::vector<TensorType> input_types;
  input_types.reserve(inputs.size());
  for (const ValueId input : inputs) {
    input_types.push_back(type(input));
  }
  const auto output_types =
      op.infer({.op = op.name, .node = name, .attributes = attributes, .inputs = input_types});
  Node node{.name = std::move(name),
            .op = &op,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = {}};
  const auto index = static_cast<std::int32_t>(nodes_.size());
  for (std::size_t i = 0; i < output_types.size(); ++i) {
    node.outputs.push_back(add_value(
        {.name = output_types.size() == 1 ? node.name : fmt::format("{}:{}", node.name, i),
         .type = output_types[i],
         .origin = Value::Origin::node,
         .producer = index,
         .position = static_cast<std::int32_t>(i)}));
  }
  nodes_.push_back(node);
  return node.outputs;
}

const Value& Graph::value(ValueId id) const {
  check(id.valid() && at(id) < values_.size(), "graph: the value does not exist");
  return values_[at(id)];
}

ValueId Graph::output(const std::string& name) const {
  const auto found = outputs_.find(name);
  check(found != outputs_.end(), fmt::format("graph: output {} does not exist", name));
  return found->second;
}

const Variable* Graph::find_variable(ValueId id) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const Variable& v) { return v.value == id; });
  return found == variables_.end() ? nullptr : &*found;
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) {
  for (const ValueId id : graph.inputs()) {
    out << "input %" << id.index << " " << graph.value(id).name << " " << graph.type(id) << "\n";
  }
  for (const Variable& variable : graph.variables()) {
    out << "variable %" << variable.value.index << " " << graph.value(variable.value).name << " "
        << graph.type(variable.value) << (variable.trainable() ? "" : " not trained")
        << (variable.decayed() ? " decayed" : "") << "\n";
  }
  for (const Node& node : graph.nodes()) {
    const char* separator = "";
    for (const ValueId id : node.outputs) {
      out << separator << "%" << id.index << " " << graph.type(id);
      separator = ", ";
    }
    out << " = " << node.op->name << "(";
    separator = "";
    for (const ValueId id : node.inputs) {
      out << separator << "%" << id.index;
      separator = ", ";
    }
    out << ") {" << node.attributes << "} " << node.name << "\n";
  }
  for (const auto& [name, id] : graph.outputs()) {
    out << "output " << name << " = %" << id.index << "\n";
  }
  for (const auto& [variable, value] : graph.updates()) {
    out << "update " << graph.value(variable).name << " = %" << value.index << "\n";
  }
  for (const auto& [variable, value] : graph.gradients()) {
    out << "gradient " << graph.value(variable).name << " = %" << value.index << "\n";
  }
  return out;
}

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.values().size(), 0);
  const auto use = [&](ValueId id) { ++uses[at(id)]; };
  for (const Node& node : graph.nodes()) {
    std::for_each(node.inputs.begin(), node.inputs.end(), use);
  }
  for (const auto& [name, id] : graph.outputs()) {
    use(id);
  }
  for (const auto& pairs : {graph.updates(), graph.gradients()}) {
    for (const auto& pair : pairs) {
      use(pair.value);
    }
  }
  return uses;
}

}  // namespace bench
