#pragma once

#include <cstddef>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/lowering.h"
#include "kernels/runtime/memory.h"

namespace bench {

/// The graph as a backend runs it: fused nodes that it cannot run are taken apart.
Graph runnable(const Graph& graph, const Backend& backend);

/// What will run of a graph on a backend, and where everything will lie. Nothing is made or
/// allocated.
struct Plan {
  /// `guard_bytes` are left free behind every buffer. Throws UsageError as lower() does.
  Plan(const Graph& original, Backend& backend, const LoweringOptions& options,
       std::size_t guard_bytes = 0);
  // The kernels' makers may refer to the graph.
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  Graph graph;
  LoweredGraph lowered;
  MemoryLayout memory;
};

/// The type of the variables that are trained; f32 where there are none.
DType trained_dtype(const Plan& plan);
/// These variables and their gradients in their flat regions, in the order in which the gradients
/// become final. Throws InternalError for variables of several types.
std::vector<OptimizerSegment> optimizer_segments(const Plan& plan);

}  // namespace bench
