#pragma once

#include "models/ir/op.h"

namespace bench {

/// (x[A,B,C]) -> y[B,A,C]: batch-major sequences become time-major ones, and the reverse.
extern const OpDef kSwapAxes;

}  // namespace bench
