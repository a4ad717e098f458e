#pragma once

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

// Every op's maker, for the table and for ops that use another op's maker. A file that defines a
// maker does not need this header, so a new row recompiles little.
#define BENCH_OP(object, name) Maker name;
#include "models/ops/ops.inc"

}  // namespace bench::cuda
