#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench::cuda {

/// See Backend::make_normalization.
std::unique_ptr<Kernel> make_gpu_normalization(const Normalization& range, const Placed& images);

}  // namespace bench::cuda
