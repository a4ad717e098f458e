#pragma once

#include "kernels/backend.h"
#include "variable_mgmt/collectives/reduce.h"

namespace bench {

/// reduce(), the elements split among a host's threads where they are worth waking them.
void reduce_by(const HostThreads& threads, const ReduceArgs& args);

}  // namespace bench
