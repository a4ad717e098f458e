#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// Throws UsageError unless `version`, a result of cudnnGetVersion(), has the major version that
/// bench was compiled with and is not older.
void check_cudnn_version(std::size_t version);
/// Checks the loaded library.
void check_cudnn_version();
/// "cuDNN 9.19.0".
std::string cudnn_version();

/// cuDNN's convolutions for a device, present or only described. Plans are made and launched only
/// while that device is the calling thread's current one. With TF32, tensor cores round f32 factors
/// to 10 bits of fraction. Throws UsageError for a device that cuDNN does not know.
std::unique_ptr<Convolutions> make_cudnn_convolutions(const DeviceProperties& device, bool tf32);

}  // namespace bench::cuda
