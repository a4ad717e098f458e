#pragma once

#include <functional>

#include "kernels/backend.h"

namespace bench {

/// Anonymous memory of this process with huge pages advised, zeroed by `touch` (which a backend runs
/// on the threads that will use the memory). Throws DeviceError when the system refuses.
std::unique_ptr<DeviceMemory> allocate_host_memory(
    std::size_t bytes, const std::function<void(std::byte*, std::size_t)>& touch);

}  // namespace bench
