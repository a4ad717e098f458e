#pragma once

#include <string>

#include "models/ir/op.h"

namespace bench::cuda {

/// Why an op has no kernels here at all; empty where it has some.
std::string why_not(const OpDef& op);

}  // namespace bench::cuda
