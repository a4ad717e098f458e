#pragma once

#include <vector>

#include "kernels/cases/kernel_case.h"

namespace bench {

/// The shapes with which every backend is tested and measured. They are the cases of every op in
/// models/ops/ops.inc that is not a companion, from the file of that name. The same cases test the
/// companions.
std::vector<KernelCase> all_cases();

}  // namespace bench
