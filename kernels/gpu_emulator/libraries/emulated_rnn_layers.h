#pragma once

#include <memory>

#include "kernels/cuda/backend/rnn_layers.h"

namespace bench::cuda {

/// Replaces cuDNN's recurrent layers on an emulated GPU. The reference computes in double, and the
/// results are rounded to f32, then to their type. As with cuDNN, the weights are in a different
/// order from the op's, and the backward adds to their gradients and changes the reserve. The
/// backward returns NaNs if its reserve is not the one that the forward left.
std::unique_ptr<RnnLayers> make_emulated_rnn_layers();

}  // namespace bench::cuda
