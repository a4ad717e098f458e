#pragma once

#include "kernels/onednn/context.h"

namespace bench::onednn {

// Every op's maker, for the table and for ops that use another op's maker. Files that define a
// maker do not need this header, so that a new row compiles little.
#define BENCH_OP(object, name) Maker name;
#include "models/ops/ops.inc"

}  // namespace bench::onednn
