#pragma once

#include <cstdint>

#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// What a multiprocessor counted in a time window.
struct ClockCount {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// Keeps a multiprocessor busy for `nanoseconds`, then writes the change of its cycle counter to
/// `count` in device memory. Enqueues and returns without waiting.
void count_cycles(cudaStream_t stream, std::uint64_t nanoseconds, ClockCount* count);

}  // namespace bench::cuda
