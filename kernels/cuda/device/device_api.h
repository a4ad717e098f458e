#pragma once

// Included by every file with kernels: CUDA under nvcc, the emulator under another compiler.
//
// Kernels use what both provide. These are threadIdx and similar variables, __syncthreads,
// __syncwarp, shuffles and votes with a mask, integer atomics, __threadfence, BENCH_SHARED and
// clocks. The types are __half and __nv_bfloat16.

#ifdef BENCH_EMULATED_GPU

#include "kernels/gpu_emulator/device.h"

#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/device/runtime.h"

/// Uninitialized shared memory of a block: BENCH_SHARED(float, sums[8][32]);
#define BENCH_SHARED(type, declarator) __shared__ type declarator

namespace bench::cuda {

/// A timer that the whole device shares; it moves in steps of up to a microsecond.
__device__ inline std::uint64_t global_nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
/// The cycle counter of the lane's multiprocessor.
__device__ inline std::uint64_t multiprocessor_cycles() {
  return static_cast<std::uint64_t>(clock64());
}

/// A kernel's name, for errors, and its grid and block.
struct LaunchShape {
  const char* kernel;
  dim3 grid;
  dim3 block;
};

/// Enqueues a kernel. Throws DeviceError on failure.
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
