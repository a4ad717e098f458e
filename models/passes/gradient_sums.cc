#include "models/passes/gradient_sums.h"

#include <optional>

#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"

namespace bench {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// `reader` with both terms of `sum` as its gradient.
std::optional<Node> with_both(const Node& reader, const Node& sum) {
  auto attributes = reader.attributes.as<BatchNormAttributes>();
  if (attributes.two_gradients) {
    return std::nullopt;
  }
  attributes.two_gradients = true;
  Node both = reader;
  both.attributes = attributes;
  both.inputs[0] = sum.inputs[0];
  both.inputs.push_back(sum.inputs[1]);
  return both;
}

/// For each node, the sum that it absorbs, or kNone.
std::vector<std::size_t> find_sums(const Graph& graph, const SupportQuery& supports) {
  const std::vector<int> uses = count_uses(graph);
  std::vector<std::size_t> sums(graph.nodes().size(), kNone);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != &kBatchNormBackward || uses[at(node.inputs[0])] != 1) {
      continue;
    }
    const Value& gradient = graph.value(node.inputs[0]);
    if (gradient.origin != Value::Origin::node) {
      continue;
    }
    const Node& sum = graph.nodes()[static_cast<std::size_t>(gradient.producer)];
    if (sum.op != &kAdd) {
      continue;
    }
    const auto both = with_both(node, sum);
    if (both && supports(graph, *both)) {
      sums[i] = static_cast<std::size_t>(gradient.producer);
    }
  }
  return sums;
}

}  // namespace

Graph sum_gradients_where_read(const Graph& graph, const SupportQuery& supports) {
  const std::vector<std::size_t> sum_of = find_sums(graph, supports);
  std::vector<bool> taken(graph.nodes().size(), false);
  for (const std::size_t sum : sum_of) {
    if (sum != kNone) {
      taken[sum] = true;
    }
  }
  // Absorbed sums, with inputs of the new graph.
  std::vector<Node> terms(graph.nodes().size());
  std::size_t next = 0;
  return rewrite(graph, [&](Graph& result, const Node& node) {
    const std::size_t index = next++;
    if (taken[index]) {
      terms[index] = node;
      // This placeholder is never read: the sum's only reader gets both terms.
      return std::vector<ValueId>{node.inputs[0]};
    }
    return append(result, sum_of[index] == kNone ? node : *with_both(node, terms[sum_of[index]]));
  });
}

}  // namespace bench
