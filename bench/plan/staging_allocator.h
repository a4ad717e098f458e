#pragma once

#include <memory>

#include "kernels/backend.h"
#include "pipeline/host_allocator.h"

namespace bench {

/// Where batches lie that are copied to a device: in its staging memory. Null where the device
/// computes in the host's memory, for which the pipeline's own allocator does. The backend has to
/// outlive it. Any thread may use it.
std::shared_ptr<HostAllocator> make_staging_allocator(Backend& backend);

}  // namespace bench
