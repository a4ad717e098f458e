#include "models/passes/gather_averages.h"

#include <algorithm>

#include "models/ops/moving_average.h"
#include "models/passes/rewrite.h"

namespace bench {
namespace {

/// Whether a node does nothing but update one variable.
bool only_updates(const Graph& graph, std::span<const int> uses, const Node& node) {
  const auto updates = graph.updates();
  return node.op == &kMovingAverage && node.outputs.size() == 1 &&
         uses[static_cast<std::size_t>(node.outputs[0].index)] == 1 &&
         std::any_of(updates.begin(), updates.end(), [&](const Graph::Pair& update) {
           return update.variable == node.inputs[0] && update.value == node.outputs[0];
         });
}

}  // namespace

Graph gather_moving_averages(const Graph& graph) {
  const std::vector<int> uses = count_uses(graph);
  Graph rest = graph;
  std::vector<Graph::Pair> kept;
  for (const Graph::Pair& update : graph.updates()) {
    const Value& value = graph.value(update.value);
    if (value.origin != Value::Origin::node ||
        !only_updates(graph, uses, graph.nodes()[static_cast<std::size_t>(value.producer)])) {
      kept.push_back(update);
    }
  }
  rest.set_updates(std::move(kept));
  MovingAverageAttributes attributes{{}};
  std::vector<ValueId> inputs;
  std::size_t next = 0;
  Graph result = rewrite(rest, [&](Graph& out, const Node& node) {
    if (!only_updates(graph, uses, graph.nodes()[next++])) {
      return append(out, node);
    }
    attributes.pairs.push_back(node.attributes.as<MovingAverageAttributes>().pairs[0]);
    inputs.insert(inputs.end(), node.inputs.begin(), node.inputs.end());
    return std::vector<ValueId>();
  });
  if (inputs.empty()) {
    return result;
  }
  const std::vector<ValueId> averages =
      result.add_node(kMovingAverage, "moving_averages", attributes, inputs);
  for (std::size_t i = 0; i < averages.size(); ++i) {
    result.add_update(inputs[2 * i], averages[i]);
  }
  return result;
}

}  // namespace bench
