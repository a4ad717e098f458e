#pragma once

// What every file with kernels includes: CUDA where nvcc compiles it, the emulator where another
// compiler does. Kernels use what both have: threadIdx and its like, __syncthreads, __syncwarp,
// shuffles and votes with a mask, integer atomics, __threadfence, BENCH_SHARED, clocks, and the
// types __half and __nv_bfloat16.

#ifdef BENCH_EMULATED_GPU

#include "kernels/cuda/emulator/device.h"

#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/runtime.h"

/// Memory that the lanes of a block share; nobody sets it: BENCH_SHARED(float, sums[8][32]);
#define BENCH_SHARED(type, declarator) __shared__ type declarator

namespace bench::cuda {

/// Time that is one for the whole device; it moves in steps of up to a microsecond.
__device__ inline std::uint64_t global_nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
/// Of the multiprocessor that the lane runs on.
__device__ inline std::uint64_t multiprocessor_cycles() {
  return static_cast<std::uint64_t>(clock64());
}

/// A kernel's name, for errors, and how many lanes run it.
struct LaunchShape {
  const char* kernel;
  dim3 grid;
  dim3 block;
};

/// Enqueues a kernel. Throws DeviceError when it cannot be.
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  // clang-format off
  kernel<<<shape.grid, shape.block, 0, stream>>>(Parameters(arguments)...);
  // clang-format on
  check_cuda(cudaGetLastError(), shape.kernel);
}

}  // namespace bench::cuda

#endif
