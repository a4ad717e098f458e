#pragma once

#include <span>

#include "models/ir/op.h"

namespace bench {

// The objects of all ops, for tables over them. Each op's header describes its computation, and has
// the attributes for building nodes.
#define BENCH_OP(object, name) extern const OpDef object;
#include "models/ops/ops.inc"

/// All ops, in the order of ops.inc.
std::span<const OpDef* const> all_ops();

}  // namespace bench
