#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench::cuda {

/// See Backend::make_reorder.
std::unique_ptr<Kernel> make_gpu_reorder(const Placed& from, const Placed& to);

}  // namespace bench::cuda
