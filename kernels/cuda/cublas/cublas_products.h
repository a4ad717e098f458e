#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/cuda/backend/products.h"
#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// Throws UsageError unless `version`, a result of cublasLtGetVersion(), has the major version that
/// bench was compiled with.
void check_cublas_version(std::size_t version);
/// Checks the loaded library.
void check_cublas_version();
/// "cuBLASLt 13.1.0".
std::string cublas_version();

/// cuBLASLt's products for a device, present or only described. Plans are made and launched only
/// while that device is the calling thread's current one.
///
/// Each algorithm that the library's heuristic names is a separate choice (algorithm.h). The
/// heuristic asks the device, so a described device has one choice, "cublaslt", which makes no
/// plan. A bias is supported only for results in f32: the library wants the bias in the result's
/// type. With TF32, tensor cores round f32 factors to 10 bits of fraction.
std::unique_ptr<Products> make_cublas_products(const DeviceProperties& device, bool tf32);

}  // namespace bench::cuda
