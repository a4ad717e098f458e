#pragma once

#include <cstdint>

#include "models/ir/graph.h"

namespace bench {

/// How many variables a graph has, and scalars (elements) in them.
struct VariableCounts {
  struct Count {
    std::int64_t variables = 0;
    std::int64_t scalars = 0;
  };
  Count all;
  /// Those that training changes by gradients; the others are batch norm's moving statistics.
  Count trained;
  /// Those in the L2 sum.
  Count decayed;
};

VariableCounts count_variables(const Graph& graph);

}  // namespace bench
