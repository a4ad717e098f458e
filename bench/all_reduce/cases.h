#pragma once

#include <vector>

#include "bench/all_reduce/measure.h"
#include "bench/all_reduce/options.h"

namespace bench {

/// Makes a case for each size, or one case of the network's gradients, packed as requested. The
/// gradients are roughly in the order of a backward pass: the last variable comes first.
std::vector<AllReduceCase> cases_of(const AllReduceOptions& options);

}  // namespace bench
