#pragma once

#include <cstdint>

#include "models/ir/graph.h"

namespace bench {

/// The number of variables in a graph, and of scalars (elements) in them.
struct VariableCounts {
  struct Count {
    std::int64_t variables = 0;
    std::int64_t scalars = 0;
  };
  Count all;
  /// The variables that gradients change; the others are batch norm's moving statistics.
  Count trained;
  /// The variables in the L2 sum.
  Count decayed;
};

VariableCounts count_variables(const Graph& graph);

}  // namespace bench
