#pragma once

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

/// See Backend::measure_ceiling.
Ceiling measure_ceiling(const Context& context, DType dtype);
double measure_product(const Context& context, DType dtype);

/// See Backend::measure_clock.
double measure_clock();

}  // namespace bench::cuda
