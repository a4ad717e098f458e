#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cuda/device/runtime.h"

namespace bench::cuda {

/// A pair of kMovingAverage, models/ops/moving_average.h, over `count` floats:
/// y = decay * running + (1 - decay) * factor * batch.
struct MovingAverage {
  std::int64_t count = 0;
  double decay = 0.999;
  double factor = 1;
  const float* running = nullptr;
  const float* batch = nullptr;
  /// May be running.
  float* y = nullptr;
};
/// Enqueues one kernel for several hundred averages and returns without waiting.
void moving_averages(cudaStream_t stream, std::span<const MovingAverage> averages);
/// The number of kernels that moving_averages enqueues.
int moving_average_launches(std::size_t averages);

}  // namespace bench::cuda
