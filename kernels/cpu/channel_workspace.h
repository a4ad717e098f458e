#pragma once

#include <cstddef>

#include "kernels/cpu/channel_passes.h"
#include "kernels/cpu/channel_view.h"

namespace bench::cpu {

/// The scratch of per-channel kernels, cut out of one block of memory.
class ChannelWorkspace {
 public:
  ChannelWorkspace(void* memory, const ChannelTiling& tiling, int threads);
  static std::size_t bytes(const ChannelTiling& tiling, int threads);

  /// Per thread, padded_channels() doubles each.
  [[nodiscard]] double* first_partial(int thread) const { return partial(thread, 0); }
  [[nodiscard]] double* second_partial(int thread) const { return partial(thread, 1); }
  /// Per thread, for one group at a time.
  [[nodiscard]] Accumulators accumulators(int thread) const;
  /// Four vectors of padded_channels() floats, shared by the threads.
  static constexpr int kVectors = 4;
  [[nodiscard]] float* vector(int which) const { return vectors_ + which * vector_stride_; }

 private:
  [[nodiscard]] double* partial(int thread, int which) const {
    return partials_ + (2 * thread + which) * vector_stride_;
  }
  std::ptrdiff_t vector_stride_;
  std::ptrdiff_t accumulator_stride_;
  double* partials_;
  float* accumulators_;
  float* vectors_;
};

}  // namespace bench::cpu
