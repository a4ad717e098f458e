#pragma once

#include "models/ir/op.h"

namespace bench {

/// (a, b) -> a * b, of one shape.
extern const OpDef kMultiply;

}  // namespace bench
