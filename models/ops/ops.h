#pragma once

#include <span>

#include "models/ir/op.h"

namespace bench {

// Every op's object, for tables over all of them; what an op computes, and the attributes that who
// builds nodes needs, stand in its own header.
#define BENCH_OP(object, name) extern const OpDef object;
#include "models/ops/ops.inc"

/// All ops, in the order of ops.inc.
std::span<const OpDef* const> all_ops();

}  // namespace bench
