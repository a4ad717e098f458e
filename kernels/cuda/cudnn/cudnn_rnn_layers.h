#pragma once

#include <memory>

#include "kernels/cuda/backend/rnn_layers.h"
#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// cuDNN's recurrent layers for a present device. Create and launch plans only while it is the
/// thread's current device. With TF32, tensor cores round f32 factors to 10 bits of fraction.
///
/// The algorithm is cuDNN's standard one, with one matrix product per step. Persistent ones keep
/// the recurrent weights on the multiprocessors, but cuDNN supports them only for some layers.
/// Which ones must be tried on a card.
///
/// cuDNN 8 used cuBLAS, whose shared workspaces made results differ from launch to launch. cuDNN 9
/// uses cuBLASLt. Source: the release notes of cuDNN 8 and 9.0.
std::unique_ptr<RnnLayers> make_cudnn_rnn_layers(const DeviceProperties& device, bool tf32);

}  // namespace bench::cuda
