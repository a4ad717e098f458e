#pragma once

#include <cstdint>
#include <functional>

#include "kernels/cuda/emulator/lanes.h"

namespace bench::cuda::emulator {

/// Calls `run` several times, each time with the memory that the device can reach as it was before;
/// the memory is open. Throws InternalError that names the kernel, the first byte that is not the
/// same each time, and what it depends on. `seed`, or 2 if it is less, draws one of the orders.
void run_repeatedly(const char* kernel, std::uint64_t seed,
                    const std::function<void(const KernelPass&)>& run);

}  // namespace bench::cuda::emulator
