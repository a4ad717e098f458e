#pragma once

#include <memory>

#include "kernels/cuda/backend/convolutions.h"

namespace bench::cuda {

/// Replaces cuDNN on an emulated GPU. Sums are in double. They are rounded to f32 in a workspace,
/// which is required, then to the result's type.
std::unique_ptr<Convolutions> make_emulated_convolutions();

}  // namespace bench::cuda
