#pragma once

#include "models/ir/op.h"

namespace bench {

/// (x[N,C,H,W]) -> y[N,C*H*W], always in the order C, H, W, whatever the memory layout.
extern const OpDef kFlatten;
/// (dy[N,C*H*W]) -> dx of the shape in RestoreShapeAttributes.
extern const OpDef kUnflatten;

}  // namespace bench
