#include "kernels/cuda/gpu/moving_average.h"

#include <algorithm>

#include "kernels/cuda/gpu/element.h"

namespace bench::cuda {
namespace {

constexpr int kLanes = 256;
/// The most blocks of one pair; blocks loop over longer pairs.
constexpr std::int64_t kMostBlocks = 64;

struct Pair {
  const float* running;
  const float* batch;
  float* y;
  std::int64_t count;
  float decay;
  float of_batch;
};

/// Passed as a kernel parameter, which may have 32764 bytes, so no table is kept elsewhere.
struct Pairs {
  static constexpr std::size_t kMost = 400;
  Pair rows[kMost];
};

/// Each pair has a row of blocks.
__global__ void __launch_bounds__(kLanes) moving_average_kernel(Pairs pairs) {
  const Pair& pair = pairs.rows[blockIdx.y];
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kLanes;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kLanes + threadIdx.x;
       i < pair.count; i += step) {
    pair.y[i] = fmaf(pair.decay, pair.running[i], pair.of_batch * pair.batch[i]);
  }
}

}  // namespace

int moving_average_launches(std::size_t averages) {
  return static_cast<int>((averages + Pairs::kMost - 1) / Pairs::kMost);
}

void moving_averages(cudaStream_t stream, std::span<const MovingAverage> averages) {
  while (!averages.empty()) {
    const auto part = averages.first(std::min(averages.size(), Pairs::kMost));
    averages = averages.subspan(part.size());
    Pairs pairs = {};
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const MovingAverage& average = part[i];
      pairs.rows[i] = {.running = average.running,
                       .batch = average.batch,
                       .y = average.y,
                       .count = average.count,
                       .decay = static_cast<float>(average.decay),
                       .of_batch = static_cast<float>((1 - average.decay) * average.factor)};
      longest = std::max(longest, average.count);
    }
    const dim3 grid(blocks_for(std::min(longest, kMostBlocks * kLanes), kLanes),
                    static_cast<unsigned>(part.size()));
    launch(stream, {"moving_average", grid, dim3(kLanes)}, moving_average_kernel, pairs);
  }
}

}  // namespace bench::cuda
