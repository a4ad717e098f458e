#pragma once

#include "kernels/cuda/context.h"

namespace bench::cuda {

// Every op's maker, for the table and for ops that use another one's. Who defines one needs none of
// it, so that a new row compiles little.
#define BENCH_OP(object, name) Maker name;
#include "models/ops/ops.inc"

}  // namespace bench::cuda
