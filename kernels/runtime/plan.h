#pragma once

#include <cstddef>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/lowering.h"
#include "kernels/runtime/memory.h"

namespace bench {

/// The graph that a backend can run: unsupported fused nodes are decomposed.
Graph runnable(const Graph& graph, const Backend& backend);

/// The steps and the memory layout of a graph on a backend. Nothing is created or allocated.
struct Plan {
  /// Leaves `guard_bytes` free after every buffer. Throws UsageError like lower().
  Plan(const Graph& original, Backend& backend, const LoweringOptions& options,
       std::size_t guard_bytes = 0);
  // The kernels' makers may refer to the graph.
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  Graph graph;
  LoweredGraph lowered;
  MemoryLayout memory;
};

/// The type of the trained variables; f32 without trained variables.
DType trained_dtype(const Plan& plan);
/// The flat regions of these variables and their gradients, in the order in which the gradients
/// become final. Throws InternalError for variables of several types.
std::vector<OptimizerSegment> optimizer_segments(const Plan& plan);

}  // namespace bench
