#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/cuda/products.h"
#include "kernels/cuda/properties.h"

namespace bench::cuda {

/// Throws UsageError unless a cuBLASLt, by what cublasLtGetVersion() says of it, is of the major
/// version that this was compiled with.
void check_cublas_version(std::size_t version);
/// That of the library that is loaded.
void check_cublas_version();
/// "cuBLASLt 13.1.0".
std::string cublas_version();

/// cuBLASLt's products for a device, present or only described; plans are made and launched only
/// where it is the current one of the calling thread. Each algorithm that the library's heuristic
/// names is a choice of its own (algorithm.h); the heuristic asks the device, so for one that is
/// only described there is one choice, "cublaslt", of which no plan can be made. A bias comes with
/// results in f32 only: the library wants it in the result's type. With TF32, tensor cores round
/// the factors of f32 to 10 bits of fraction.
std::unique_ptr<Products> make_cublas_products(const DeviceProperties& device, bool tf32);

}  // namespace bench::cuda
