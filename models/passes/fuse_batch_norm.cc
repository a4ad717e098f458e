#include "models/passes/fuse_batch_norm.h"

#include <optional>

#include "models/ir/op.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

/// A convolution and the batch norm after it, as one node.
std::optional<Node> as_one(const Node& convolution, const Node& norm) {
  auto attributes = convolution.attributes.as<Conv2dAttributes>();
  if (!attributes.epilogue.empty()) {
    return std::nullopt;
  }
  attributes.batch_norm = norm.attributes.as<BatchNormAttributes>();
  Node both = convolution;
  both.attributes = attributes;
  both.inputs.insert(both.inputs.end(), norm.inputs.begin() + 1, norm.inputs.end());
  return both;
}

/// Indexed by node: for a batch norm that is fused, its convolution; for that convolution, itself.
std::vector<std::optional<std::size_t>> find_pairs(const Graph& graph,
                                                   const SupportQuery& supports) {
  const std::vector<int> uses = count_uses(graph);
  std::vector<std::optional<std::size_t>> convolution_of(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& norm = graph.nodes()[i];
    if (norm.op != &kBatchNorm || uses[at(norm.inputs[0])] != 1 ||
        graph.value(norm.inputs[0]).origin != Value::Origin::node) {
      continue;
    }
    const auto producer = static_cast<std::size_t>(graph.value(norm.inputs[0]).producer);
    const Node& convolution = graph.nodes()[producer];
    if (convolution.op != &kConv2d) {
      continue;
    }
    if (const auto both = as_one(convolution, norm); both && supports(graph, *both)) {
      convolution_of[i] = producer;
      convolution_of[producer] = producer;
    }
  }
  return convolution_of;
}

}  // namespace

Graph fuse_batch_norm(const Graph& graph, const SupportQuery& supports) {
  const auto convolution_of = find_pairs(graph, supports);
  // Convolutions that wait for their batch norm, with inputs of the new graph.
  std::vector<Node> waiting(graph.nodes().size());
  std::size_t next = 0;
  return rewrite(graph, [&](Graph& result, const Node& node) {
    const std::size_t index = next++;
    if (!convolution_of[index]) {
      return append(result, node);
    }
    if (*convolution_of[index] == index) {
      waiting[index] = node;
      // This placeholder is never read: the result's only reader is fused into this node.
      return std::vector<ValueId>{node.inputs[0]};
    }
    std::vector<ValueId> outputs = append(result, *as_one(waiting[*convolution_of[index]], node));
    outputs.resize(node.outputs.size());
    return outputs;
  });
}

}  // namespace bench
