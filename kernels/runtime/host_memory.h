#pragma once

#include "kernels/backend.h"

namespace bench {

/// Anonymous memory of this process, zero, with huge pages advised; the system backs each page near
/// the thread that touches it first. Throws DeviceError when the system refuses.
std::unique_ptr<DeviceMemory> allocate_host_memory(std::size_t bytes);

}  // namespace bench
