#include "models/passes/fuse_concat.h"

#include <map>
#include <optional>

#include "models/ir/op.h"
#include "models/ops/concat.h"
#include "models/ops/concat_batch_norm.h"
#include "models/passes/graph_copy.h"

namespace bench {
namespace {

/// The parts of each concat; none of them is a concat.
using Parts = std::map<ValueId, std::vector<ValueId>>;

std::size_t producer_of(const Graph& graph, ValueId id) {
  return static_cast<std::size_t>(graph.value(id).producer);
}

/// The batch norm `node` with its x replaced by the parts.
Node with_parts(const Node& node, const std::vector<ValueId>& parts) {
  Node result = node;
  result.op = &kConcatBatchNorm;
  result.attributes = ConcatBatchNormAttributes{.norm = node.attributes.as<BatchNormAttributes>(),
                                                .parts = static_cast<int>(parts.size())};
  result.inputs = parts;
  result.inputs.insert(result.inputs.end(), node.inputs.begin() + 1, node.inputs.end());
  return result;
}

/// The batch norm as it reads the parts of its x, if that is a concat and the device supports it.
std::optional<Node> fused(const Graph& graph, const Node& node, const Parts& parts,
                          const SupportQuery& supports) {
  if (node.op != &kBatchNormInference || !parts.contains(node.inputs[0]) ||
      node.attributes.as<BatchNormAttributes>().epilogue.residual) {
    return std::nullopt;
  }
  const Node result = with_parts(node, parts.at(node.inputs[0]));
  return supports(graph, result) ? std::optional(result) : std::nullopt;
}

Parts all_parts(const Graph& graph) {
  Parts all;
  for (const Node& node : graph.nodes()) {
    if (node.op != &kConcat) {
      continue;
    }
    std::vector<ValueId>& parts = all[node.outputs[0]];
    for (const ValueId input : node.inputs) {
      const auto inner = all.find(input);
      if (inner == all.end()) {
        parts.push_back(input);
      } else {
        parts.insert(parts.end(), inner->second.begin(), inner->second.end());
      }
    }
  }
  return all;
}

}  // namespace

Graph fuse_concat(const Graph& graph, const SupportQuery& supports) {
  const Parts parts = all_parts(graph);
  const std::vector<int> uses = count_uses(graph);
  const auto nodes = graph.nodes();
  // The uses of each value that the fusion removes.
  std::vector<int> removed_uses(graph.values().size(), 0);
  std::vector<bool> dropped(nodes.size(), false);
  std::vector<std::optional<Node>> norms(nodes.size());
  // Visits readers before the concats that they read.
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const Node& node = nodes[n];
    if (node.op == &kConcat) {
      const std::size_t y = at(node.outputs[0]);
      dropped[n] = removed_uses[y] == uses[y];
      for (const ValueId input : node.inputs) {
        removed_uses[at(input)] += dropped[n] ? 1 : 0;
      }
      continue;
    }
    norms[n] = fused(graph, node, parts, supports);
    if (norms[n]) {
      ++removed_uses[at(node.inputs[0])];
    }
  }
  GraphCopy copy(graph);
  copy.add_inputs();
  copy.add_variables();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (dropped[n]) {
      continue;
    }
    const bool reads_parts = norms[n] && dropped[producer_of(graph, nodes[n].inputs[0])];
    copy.append_node(reads_parts ? *norms[n] : nodes[n]);
  }
  copy.add_outputs();
  copy.add_updates_and_gradients();
  return std::move(copy.graph());
}

}  // namespace bench
