#pragma once

#include "kernels/backend.h"
#include "variable_mgmt/collectives/reduce.h"

namespace bench {

/// reduce() on several of a host's threads, if there are enough elements to justify waking them.
void reduce_by(const HostThreads& threads, const ReduceArgs& args);

}  // namespace bench
