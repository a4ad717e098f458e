#pragma once

#include "models/ir/op.h"

namespace bench {

/// (x, bias[C]) -> x + bias over axis 1; x is NxC or NxCxHxW.
extern const OpDef kBiasAdd;
/// (dy) -> the bias's gradient [C]: dy summed over all axes but 1.
extern const OpDef kBiasBackward;

}  // namespace bench
