#pragma once

#include <memory>

#include "kernels/cuda/backend/rnn_layers.h"
#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// cuDNN's recurrent layers for a present device. Create and launch plans only while it is the
/// thread's current device. With TF32, tensor cores round f32 factors to 10 bits of fraction.
///
/// Uses cuDNN's standard algorithm, with one matrix product per step.
std::unique_ptr<RnnLayers> make_cudnn_rnn_layers(const DeviceProperties& device, bool tf32);

}  // namespace bench::cuda
