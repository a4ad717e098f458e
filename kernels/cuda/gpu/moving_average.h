#pragma once

#include <cstddef>
#include <span>

#include "kernels/arguments.h"
#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// Enqueues one kernel for several hundred averages and returns without waiting.
void moving_averages(cudaStream_t stream, std::span<const MovingAverage> averages);
/// The number of kernels that moving_averages enqueues.
int moving_average_launches(std::size_t averages);

}  // namespace bench::cuda
