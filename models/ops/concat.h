#pragma once

#include "models/ir/op.h"

namespace bench {

/// (x0[N,C0,H,W], x1[N,C1,H,W], ...) -> y[N,C0+C1+...,H,W], concatenated over the channels; or the
/// same of matrices [N,C0], [N,C1], ...
extern const OpDef kConcat;

}  // namespace bench
