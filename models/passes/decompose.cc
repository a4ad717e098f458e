#include "models/passes/decompose.h"

#include "models/ir/op.h"

namespace bench {

Graph decompose_unsupported(const Graph& graph, const SupportQuery& supports) {
  bool divided = false;
  Graph parts = rewrite(graph, [&](Graph& result, const Node& node) {
    const bool divisible = node.op->fused != nullptr && node.op->fused(node);
    if (divisible && !supports(result, node)) {
      divided = true;
      return node.op->decompose(result, node);
    }
    return append(result, node);
  });
  // A node that was fused twice decomposes into a part that is itself fused.
  return divided ? decompose_unsupported(parts, supports) : parts;
}

}  // namespace bench
