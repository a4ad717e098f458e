#include "models/passes/sparse_gradients.h"

#include <algorithm>

#include "models/ops/embedding.h"
#include "models/passes/rewrite.h"

namespace bench {
namespace {

/// True if the only use of the node is as the gradient of a variable.
bool can_be_sparse(const Graph& graph, const Node& node, const std::vector<int>& uses) {
  const ValueId dtable = node.outputs[0];
  return uses[at(dtable)] == 1 &&
         std::ranges::any_of(graph.gradients(),
                             [&](const Graph::Pair& pair) { return pair.value == dtable; });
}

}  // namespace

Graph mark_sparse_gradients(const Graph& graph) {
  const std::vector<int> uses = count_uses(graph);
  std::size_t next = 0;
  return rewrite(graph, [&](Graph& copy, const Node& renamed) {
    const Node& node = graph.nodes()[next++];
    Node marked = renamed;
    if (node.op == &kEmbeddingBackward && can_be_sparse(graph, node, uses)) {
      auto attributes = node.attributes.as<EmbeddingBackwardAttributes>();
      attributes.sparse = true;
      marked.attributes = attributes;
    }
    return append(copy, marked);
  });
}

}  // namespace bench
