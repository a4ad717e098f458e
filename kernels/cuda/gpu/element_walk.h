#pragma once

#include <cstdint>

#include "kernels/cuda/gpu/element.h"

// Kernels that walk over a tensor's elements in memory order, whatever the order means.

namespace bench::cuda {

/// Lanes per block of such a kernel.
inline constexpr int kElementLanes = 256;

template <int kCount>
struct Width {
  static constexpr int value = kCount;
};

/// Calls body(index of the first, Width of how many) for this lane's elements. Takes N at once, and
/// single elements at the end of the tensor.
template <int N, class Body>
__device__ void for_elements_of_lane(std::int64_t count, const Body& body) {
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * kElementLanes + threadIdx.x) * N;
  if (first + N <= count) {
    body(first, Width<N>{});
    return;
  }
  for (std::int64_t i = first; i < count; ++i) {
    body(i, Width<1>{});
  }
}

template <int N>
LaunchShape shape_for(const char* name, std::int64_t count) {
  return {name, dim3(blocks_for(count, std::int64_t{kElementLanes} * N)), dim3(kElementLanes)};
}

}  // namespace bench::cuda
