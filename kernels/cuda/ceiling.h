#pragma once

#include "kernels/cuda/context.h"

namespace bench::cuda {

/// See Backend::measure_ceiling.
Ceiling measure_ceiling(const Context& context, DType dtype);

}  // namespace bench::cuda
