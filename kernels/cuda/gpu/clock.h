#pragma once

#include <cstdint>

#include "kernels/cuda/runtime.h"

namespace bench::cuda {

/// What a multiprocessor counted in a window of time.
struct ClockCount {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// Keeps a multiprocessor busy for `nanoseconds` and then writes to `count`, of the device, what
/// its counter of cycles did meanwhile. Enqueues and returns without waiting.
void count_cycles(cudaStream_t stream, std::uint64_t nanoseconds, ClockCount* count);

}  // namespace bench::cuda
