#pragma once

#include <string>

#include "models/ir/op.h"

namespace bench::cuda {

/// The reason why an op has no kernels here at all; empty if it has some.
std::string why_not(const OpDef& op);

}  // namespace bench::cuda
