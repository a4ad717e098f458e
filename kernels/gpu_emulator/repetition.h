#pragma once

#include <cstdint>
#include <functional>

#include "kernels/gpu_emulator/lanes.h"

namespace bench::cuda::emulator {

/// Calls `run` several times. Before each call, memory that the device can access is restored; it
/// is open. Throws InternalError with the kernel, the first byte that differs, and what it depends
/// on. `seed`, or 2 if it is less, draws one of the orders.
void run_repeatedly(const char* kernel, std::uint64_t seed,
                    const std::function<void(const KernelPass&)>& run);

}  // namespace bench::cuda::emulator
