#pragma once

#include "models/ir/op.h"

namespace bench {

/// (x[N,C,H,W], s[N,C,1,1]) -> y = x * s, s broadcast over H and W: the excitation of Hu et al.,
/// arXiv:1709.01507.
extern const OpDef kChannelScale;
/// (dy, x) -> ds[N,C,1,1], the sum of dy * x over H and W.
extern const OpDef kChannelScaleBackward;

}  // namespace bench
