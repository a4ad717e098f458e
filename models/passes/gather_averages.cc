#include "models/passes/gather_averages.h"

#include <algorithm>

#include "models/ops/moving_average.h"
#include "models/passes/graph_copy.h"

namespace bench {
namespace {

/// Returns true if a node only updates one variable.
bool only_updates(const Graph& graph, std::span<const int> uses, const Node& node) {
  const auto updates = graph.updates();
  return node.op == &kMovingAverage && node.outputs.size() == 1 && uses[at(node.outputs[0])] == 1 &&
         std::any_of(updates.begin(), updates.end(), [&](const Graph::Pair& update) {
           return update.variable == node.inputs[0] && update.value == node.outputs[0];
         });
}

}  // namespace

Graph gather_moving_averages(const Graph& graph) {
  const std::vector<int> uses = count_uses(graph);
  GraphCopy copy(graph);
  copy.add_inputs();
  copy.add_variables();
  MovingAverageAttributes attributes{{}};
  std::vector<ValueId> inputs;
  std::vector<ValueId> gathered;
  for (const Node& node : graph.nodes()) {
    if (!only_updates(graph, uses, node)) {
      copy.append_node(node);
      continue;
    }
    const Node renamed = copy.renamed(node);
    inputs.insert(inputs.end(), renamed.inputs.begin(), renamed.inputs.end());
    attributes.pairs.push_back(node.attributes.as<MovingAverageAttributes>().pairs[0]);
    gathered.push_back(node.outputs[0]);
  }
  if (!gathered.empty()) {
    const std::vector<ValueId> averages =
        copy.graph().add_node(kMovingAverage, "moving_averages", attributes, inputs);
    for (std::size_t i = 0; i < gathered.size(); ++i) {
      copy[gathered[i]] = averages[i];
    }
  }
  copy.add_outputs();
  copy.add_updates_and_gradients();
  return std::move(copy.graph());
}

}  // namespace bench
