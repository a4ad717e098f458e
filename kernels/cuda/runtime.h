#pragma once

// The calls of the CUDA runtime, or those of the emulated one, which have the same names.

#ifdef BENCH_EMULATED_GPU
#include "kernels/cuda/emulator/runtime.h"
#else
#include <cuda_runtime_api.h>
#endif

namespace bench::cuda {

/// Throws DeviceError that names the call, or kernel, and the status, unless it is cudaSuccess.
void check_cuda(cudaError_t status, const char* call);

}  // namespace bench::cuda
