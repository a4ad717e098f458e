#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// to[i] = from[i] + added. Each side is f32, or of the launch's type.
struct CopiedRun {
  /// Null for zeros.
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;
  float added = 0;
  bool from_f32 = false;
  bool to_f32 = false;
};

/// The maximum number of runs of one launch.
inline constexpr std::size_t kMostRuns = 32;

/// Enqueues one kernel for up to kMostRuns runs and returns without waiting.
void copy_runs(cudaStream_t stream, DType dtype, std::span<const CopiedRun> runs);

}  // namespace bench::cuda
