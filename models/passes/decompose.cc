#include "models/passes/decompose.h"

#include "models/ir/op.h"

namespace bench {

Graph decompose_unsupported(const Graph& graph, const SupportQuery& supports) {
  return rewrite(graph, [&](Graph& result, const Node& node) {
    const bool divisible = node.op->fused != nullptr && node.op->fused(node);
    if (divisible && !supports(result, node)) {
      return node.op->decompose(result, node);
    }
    return append(result, node);
  });
}

}  // namespace bench
