#pragma once

#include <functional>
#include <memory>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// What `make` makes, a kernel that adds to what its output holds, behind a copy that puts input
/// `residual` there; nothing is copied where it lies there already.
std::function<std::unique_ptr<Kernel>()> adding_to_residual(
    Context& context, std::function<std::unique_ptr<Kernel>()> make, std::size_t residual);

}  // namespace bench::onednn
