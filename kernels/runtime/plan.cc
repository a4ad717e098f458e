#include "kernels/runtime/plan.h"

#include "models/passes/decompose.h"

namespace bench {
namespace {

std::vector<std::size_t> output_buffers(const Graph& graph, const LoweredGraph& lowered) {
  std::vector<std::size_t> buffers;
  for (const auto& [name, id] : graph.outputs()) {
    buffers.push_back(lowered.buffer_of[at(id)]);
  }
  return buffers;
}

}  // namespace

Graph runnable(const Graph& graph, const Backend& backend) {
  return decompose_unsupported(
      graph, [&](const Graph& around, const Node& node) { return backend.supports(around, node); });
}

Plan::Plan(const Graph& original, Backend& backend, const LoweringOptions& options,
           std::size_t guard_bytes)
    : graph(runnable(original, backend)),
      lowered(lower(graph, backend, options)),
      memory(lay_out_memory(lowered, output_buffers(graph, lowered), guard_bytes)) {}

}  // namespace bench
