#pragma once

#include <vector>

#include "kernels/cases/kernel_case.h"

namespace bench {

/// The shapes every backend is tested and measured with: those of every op in models/ops/ops.inc
/// that is no companion of another one, from the file of its name, which tries its companions too.
std::vector<KernelCase> all_cases();

}  // namespace bench
