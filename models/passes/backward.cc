#include "models/passes/backward.h"

#include <algorithm>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/add.h"

namespace bench {
namespace {

/// Which values depend on a trainable variable.
std::vector<bool> depends_on_trainable(const Graph& graph) {
  std::vector<bool> depends(graph.values().size(), false);
  for (const Variable& variable : graph.variables()) {
    depends[at(variable.value)] = variable.trainable();
  }
  for (const Node& node : graph.nodes()) {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                 [&](ValueId input) { return depends[at(input)]; });
    for (const ValueId output : node.outputs) {
      depends[at(output)] = any;
    }
  }
  return depends;
}

}  // namespace

Graph add_backward(const Graph& forward, const std::string& loss) {
  Graph graph = forward;
  const std::vector<bool> depends = depends_on_trainable(forward);
  const ValueId loss_value = forward.output(loss);
  check(depends[at(loss_value)], "backward: the loss does not depend on a trainable variable");

  // One gradient per value of the forward graph, summed as contributions arrive.
  std::vector<ValueId> gradients(forward.values().size());
  gradients[at(loss_value)] = graph.add_input("loss_scale", forward.type(loss_value));
  std::vector<int> sums(forward.values().size(), 0);
  const auto accumulate = [&](ValueId value, ValueId contribution) {
    ValueId& sum = gradients[at(value)];
    if (!sum.valid()) {
      sum = contribution;
      return;
    }
    const int number = ++sums[at(value)];
    std::string name = forward.value(value).name + "/gradient_sum";
    if (number > 1) {
      name += fmt::format("_{}", number);
    }
    sum = graph.add_node(kAdd, name, {}, {sum, contribution})[0];
  };

  std::vector<int> uses_left(forward.values().size(), 0);
  for (const Node& node : forward.nodes()) {
    for (const ValueId input : node.inputs) {
      ++uses_left[at(input)];
    }
  }
  for (std::size_t i = forward.nodes().size(); i-- > 0;) {
    const Node& node = forward.nodes()[i];
    std::vector<ValueId> output_gradients;
    for (const ValueId output : node.outputs) {
      output_gradients.push_back(gradients[at(output)]);
    }
    const bool reached = std::any_of(output_gradients.begin(), output_gradients.end(),
                                     [](ValueId id) { return id.valid(); });
    if (reached && depends[at(node.outputs[0])]) {
      check(node.op->gradient != nullptr,
            fmt::format("backward: {} has no gradient rule", node.op->name));
      GradientContext context{.graph = graph,
                              .node = node,
                              .output_gradients = output_gradients,
                              .wanted = [&](std::size_t input) {
                                return static_cast<bool>(depends[at(node.inputs[input])]);
                              }};
      const auto contributions = node.op->gradient(context);
      for (std::size_t input = 0; input < contributions.size(); ++input) {
        if (contributions[input].valid() && context.wanted(input)) {
          accumulate(node.inputs[input], contributions[input]);
        }
      }
    }
    for (const ValueId input : node.inputs) {
      const Variable* variable = forward.find_variable(input);
      if (--uses_left[at(input)] == 0 && variable != nullptr && variable->trainable() &&
          gradients[at(input)].valid()) {
        graph.add_gradient(input, gradients[at(input)]);
      }
    }
  }
  return graph;
}

}  // namespace bench
