#pragma once

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

namespace bench::cuda {

using SpatialPad = bench::SpatialPad<View>;
/// A line of y is W' * C elements in nhwc. It must have fewer than 2^31 elements, else
/// InternalError. Enqueues and returns without waiting.
void spatial_pad(cudaStream_t stream, const SpatialPad& args);

}  // namespace bench::cuda
