#pragma once

#include "models/ir/op.h"

namespace bench {

/// (a, b) -> a * b, elementwise; a and b have the same shape.
extern const OpDef kMultiply;

}  // namespace bench
