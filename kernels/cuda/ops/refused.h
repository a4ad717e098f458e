#pragma once

#include <string>

#include "models/ir/op.h"

namespace bench::cuda {

/// The reason why an op has no kernels here at all; empty if it has some. Ops on int8 have none. It
/// would need a second set of kernels for its scales, and f16 uses tensor cores as well.
std::string why_not(const OpDef& op);

}  // namespace bench::cuda
