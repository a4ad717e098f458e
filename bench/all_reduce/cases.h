#pragma once

#include <vector>

#include "bench/all_reduce/measure.h"
#include "bench/all_reduce/options.h"

namespace bench {

/// What the options ask to add: a case per size, or one of the network's gradients, packed as
/// asked, in the order in which a backward pass would about have them: the last variable's first.
std::vector<AllReduceCase> cases_of(const AllReduceOptions& options);

}  // namespace bench
