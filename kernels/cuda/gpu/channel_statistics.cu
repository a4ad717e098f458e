#include "kernels/cuda/gpu/channel_statistics.h"

#include "kernels/cuda/gpu/element.h"

namespace bench::cuda {
namespace {

constexpr int kFinishingLanes = 256;

__global__ void __launch_bounds__(kFinishingLanes) finish_statistics_kernel(FinishStatistics args) {
  const std::int64_t channel =
      static_cast<std::int64_t>(blockIdx.x) * kFinishingLanes + threadIdx.x;
  if (channel >= args.channels) {
    return;
  }
  const auto count = static_cast<double>(args.count);
  const double mean = static_cast<double>(args.mean[channel]) / count;
  const double variance = static_cast<double>(args.variance[channel]) / count - mean * mean;
  args.mean[channel] = static_cast<float>(mean);
  // A NaN has to stay one.
  args.variance[channel] = variance < 0 ? 0.0F : static_cast<float>(variance);
}

}  // namespace

void finish_statistics(cudaStream_t stream, const FinishStatistics& args) {
  launch(stream,
         {"finish_statistics", dim3(blocks_for(args.channels, kFinishingLanes)),
          dim3(kFinishingLanes)},
         finish_statistics_kernel, args);
}

}  // namespace bench::cuda
