#pragma once

// The calls of the CUDA runtime, or of the emulated one, which uses the same names.

#ifdef BENCH_EMULATED_GPU
#include "kernels/gpu_emulator/runtime.h"
#else
#include <cuda_runtime_api.h>
#endif

namespace bench::cuda {

/// Throws DeviceError with the call or kernel and the status, unless the status is cudaSuccess.
void check_cuda(cudaError_t status, const char* call);

}  // namespace bench::cuda
