#pragma once

#include "kernels/reference/tensor.h"

namespace bench::reference {

// Every op's maker, for the table and for ops that use another op's maker. Files that define a
// maker do not need this header, so that a new row compiles little.
#define BENCH_OP(object, name) Operation name(const Graph& graph, const Node& node);
#include "models/ops/ops.inc"

}  // namespace bench::reference
