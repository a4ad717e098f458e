#pragma once

#include <memory>

#include "kernels/cuda/convolutions.h"

namespace bench::cuda {

/// What stands for cuDNN where a GPU is emulated: sums in double, rounded to f32 in a workspace
/// that has to be there, then to the result's type.
std::unique_ptr<Convolutions> make_emulated_convolutions();

}  // namespace bench::cuda
