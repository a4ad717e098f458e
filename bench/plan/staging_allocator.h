#pragma once

#include <memory>

#include "kernels/backend.h"
#include "pipeline/host_allocator.h"

namespace bench {

/// Allocates batches that are copied to a device, in its staging memory. Null if the device
/// computes in host memory; the pipeline's own allocator is sufficient there. The backend must
/// outlive it. Any thread may use it.
std::shared_ptr<HostAllocator> make_staging_allocator(Backend& backend);

}  // namespace bench
