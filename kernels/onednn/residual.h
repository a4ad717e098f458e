#pragma once

#include <functional>
#include <memory>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Wraps the kernel from `make`, which adds to its output's contents. Input `residual` is first
/// copied to the output, unless it is already there.
std::function<std::unique_ptr<Kernel>()> adding_to_residual(
    Context& context, std::function<std::unique_ptr<Kernel>()> make, std::size_t residual);

}  // namespace bench::onednn
