#include "kernels/cpu/channel_workspace.h"

#include <cstdint>

#include "kernels/cpu/batch_norm.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

constexpr std::size_t kAlignment = 64;
/// The granularity of every array, so that each begins on a separate cache line.
constexpr std::int64_t kElements = 16;
constexpr int kAccumulators = 3;

std::ptrdiff_t rounded(std::int64_t count) {
  return static_cast<std::ptrdiff_t>((count + kElements - 1) / kElements * kElements);
}

}  // namespace

ChannelWorkspace::ChannelWorkspace(void* memory, const ChannelTiling& tiling, int threads)
    : vector_stride_(rounded(tiling.padded_channels())),
      accumulator_stride_(rounded(accumulator_floats(tiling.width))),
      partials_(static_cast<double*>(memory)),
      accumulators_(
          reinterpret_cast<float*>(partials_ + std::ptrdiff_t{2} * threads * vector_stride_)),
      vectors_(accumulators_ + std::ptrdiff_t{kAccumulators} * threads * accumulator_stride_) {
  check(memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0,
        "channel kernel: the workspace is missing or not 64-byte aligned");
}

std::size_t ChannelWorkspace::bytes(const ChannelTiling& tiling, int threads) {
  const auto vector = static_cast<std::size_t>(rounded(tiling.padded_channels()));
  const auto accumulator = static_cast<std::size_t>(rounded(accumulator_floats(tiling.width)));
  const auto team = static_cast<std::size_t>(threads);
  return 2 * team * vector * sizeof(double) + kAccumulators * team * accumulator * sizeof(float) +
         kVectors * vector * sizeof(float);
}

Accumulators ChannelWorkspace::accumulators(int thread) const {
  float* const begin = accumulators_ + std::ptrdiff_t{kAccumulators} * thread * accumulator_stride_;
  return {.first = begin,
          .second = begin + accumulator_stride_,
          .shift = begin + 2 * accumulator_stride_};
}

std::size_t channel_workspace_bytes(const ChannelView& view, int threads) {
  return ChannelWorkspace::bytes(ChannelTiling::joined(view), threads);
}

}  // namespace bench::cpu
