#pragma once

#include "kernels/cuda/device/device_api.h"

namespace bench::cuda {

/// Combines the values of all lanes of a block in a fixed order; every lane gets the result. All
/// lanes of the block must call it. The block must be whole warps: a multiple of 32 in x, 1 in y
/// and z.
template <class Combine>
__device__ float combined_over_block(float value, const Combine& combine) {
  constexpr unsigned kWarp = 32;
  BENCH_SHARED(float, of_warps[32]);
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
  }
  if (threadIdx.x % kWarp == 0) {
    of_warps[threadIdx.x / kWarp] = value;
  }
  __syncthreads();
  float result = of_warps[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) {
    result = combine(result, of_warps[warp]);
  }
  // The next call overwrites them.
  __syncthreads();
  return result;
}

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

}  // namespace bench::cuda
