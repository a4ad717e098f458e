#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/properties.h"

namespace bench::cuda {

/// Throws UsageError unless a cuDNN, by what cudnnGetVersion() says of it, can stand for the one
/// that this was compiled with: of the same major version and not older.
void check_cudnn_version(std::size_t version);
/// That of the library that is loaded.
void check_cudnn_version();
/// "cuDNN 9.19.0".
std::string cudnn_version();

/// cuDNN's convolutions for a device, present or only described; plans are made and launched only
/// where it is the current one of the calling thread. With TF32, tensor cores round the factors of
/// f32 to 10 bits of fraction. Throws UsageError for a device that cuDNN does not know.
std::unique_ptr<Convolutions> make_cudnn_convolutions(const DeviceProperties& device, bool tf32);

}  // namespace bench::cuda
