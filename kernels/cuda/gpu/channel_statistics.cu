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
  // A NaN must stay a NaN.
  args.variance[channel] = variance < 0 ? 0.0F : static_cast<float>(variance);
}

template <class T>
__global__ void __launch_bounds__(kFinishingLanes) scale_and_shift_kernel(ScaleAndShift args) {
  const std::int64_t channel =
      static_cast<std::int64_t>(blockIdx.x) * kFinishingLanes + threadIdx.x;
  if (channel >= args.channels) {
    return;
  }
  const float gamma = args.gamma == nullptr ? 1.0F : args.gamma[channel];
  const T scale =
      narrowed<T>(gamma / sqrtf(args.variance[channel] + static_cast<float>(args.epsilon)));
  // Uses the rounded scale that x is multiplied with, so that the mean gives beta whatever the
  // rounding lost.
  const float shift = fmaf(-args.mean[channel], widened(scale), args.beta[channel]);
  static_cast<T*>(args.scale)[channel] = scale;
  static_cast<T*>(args.shift)[channel] = narrowed<T>(shift);
}

}  // namespace

void finish_statistics(cudaStream_t stream, const FinishStatistics& args) {
  launch(stream,
         {"finish_statistics", dim3(blocks_for(args.channels, kFinishingLanes)),
          dim3(kFinishingLanes)},
         finish_statistics_kernel, args);
}

void scale_and_shift(cudaStream_t stream, const ScaleAndShift& args) {
  with_element(args.dtype, [&](auto tag) {
    launch(stream,
           {"scale_and_shift", dim3(blocks_for(args.channels, kFinishingLanes)),
            dim3(kFinishingLanes)},
           scale_and_shift_kernel<typename decltype(tag)::type>, args);
  });
}

}  // namespace bench::cuda
