#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench::cuda {

/// Zeroed memory of the current device. Throws DeviceError that says what was free.
std::unique_ptr<DeviceMemory> allocate_gpu_memory(std::size_t bytes);

/// Zeroed, page-locked memory of the host.
std::unique_ptr<DeviceMemory> allocate_pinned_memory(std::size_t bytes);

/// What may still be allocated on that device, less what the libraries take when their first
/// kernels are loaded. The current device stays what it is.
std::size_t free_gpu_memory(int device);

/// Whether that device, the current one, reads that memory of a GPU's over a link between the two,
/// or as its own. Turns this on, and it stays so; false where that is refused.
bool reaches_memory(int device, const void* memory);

}  // namespace bench::cuda
