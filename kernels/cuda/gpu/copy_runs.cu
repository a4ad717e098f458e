#include "kernels/cuda/gpu/copy_runs.h"

#include <algorithm>

#include "kernels/cuda/gpu/element.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

constexpr int kLanes = 256;
/// The most blocks of one run; blocks loop over longer runs.
constexpr std::int64_t kMostBlocks = 256;

/// Passed as a kernel parameter.
struct Runs {
  CopiedRun rows[kMostRuns];
};

template <class T>
__device__ float read(const CopiedRun& run, std::int64_t i) {
  if (run.from == nullptr) {
    return 0;
  }
  return run.from_f32 ? static_cast<const float*>(run.from)[i]
                      : widened(static_cast<const T*>(run.from)[i]);
}

/// True if the run copies whole packs without conversion.
template <class T>
__device__ bool is_plain(const CopiedRun& run) {
  constexpr int kBytes = kWidest<T> * static_cast<int>(sizeof(T));
  const auto aligned = [](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % kBytes == 0;
  };
  return run.from != nullptr && (sizeof(T) == 4 || (!run.from_f32 && !run.to_f32)) &&
         run.added == 0 && run.count % kWidest<T> == 0 && aligned(run.from) && aligned(run.to);
}

/// blockIdx.y is the run.
template <class T>
__global__ void __launch_bounds__(kLanes) copy_runs_kernel(Runs runs) {
  const CopiedRun& run = runs.rows[blockIdx.y];
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kLanes;
  const std::int64_t lane = static_cast<std::int64_t>(blockIdx.x) * kLanes + threadIdx.x;
  if (is_plain<T>(run)) {
    constexpr int kPack = kWidest<T>;
    for (std::int64_t i = lane; i < run.count / kPack; i += step) {
      store_pack<kPack>(static_cast<T*>(run.to) + i * kPack,
                        load_pack<kPack>(static_cast<const T*>(run.from) + i * kPack));
    }
    return;
  }
  for (std::int64_t i = lane; i < run.count; i += step) {
    const float value = read<T>(run, i) + run.added;
    if (run.to_f32) {
      static_cast<float*>(run.to)[i] = value;
    } else {
      static_cast<T*>(run.to)[i] = narrowed<T>(value);
    }
  }
}

}  // namespace

void copy_runs(cudaStream_t stream, DType dtype, std::span<const CopiedRun> runs) {
  check(!runs.empty() && runs.size() <= kMostRuns, "copy_runs: too many runs, or none");
  Runs rows = {};
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.rows[i] = runs[i];
    longest = std::max(longest, runs[i].count);
  }
  const dim3 grid(blocks_for(std::min(longest, kMostBlocks * kLanes), kLanes),
                  static_cast<unsigned>(runs.size()));
  with_element(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, {"copy_runs", grid, dim3(kLanes)}, copy_runs_kernel<T>, rows);
  });
}

}  // namespace bench::cuda
