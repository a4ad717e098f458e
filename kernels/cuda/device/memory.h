#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench::cuda {

/// Zeroed memory of the current device. Throws DeviceError with the amount of free memory.
std::unique_ptr<DeviceMemory> allocate_gpu_memory(std::size_t bytes);

/// Zeroed, page-locked host memory.
std::unique_ptr<DeviceMemory> allocate_pinned_memory(std::size_t bytes);

/// Bytes that can still be allocated on a device, less what the libraries take when they load their
/// first kernels. Does not change the current device.
std::size_t free_gpu_memory(int device);

/// True if the current device `device` can read a GPU's memory, its own or over a link. Enables
/// peer access permanently; returns false if that is refused.
bool reaches_memory(int device, const void* memory);

}  // namespace bench::cuda
