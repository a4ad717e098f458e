#pragma once

#include "kernels/cuda/gpu/divisor.h"
#include "kernels/cuda/gpu/unit.h"

// How kernels that move elements walk over rows of units.

namespace bench::cuda {

inline constexpr int kRowLanes = 256;
inline constexpr int kUnitsPerLane = 8;
inline constexpr std::int64_t kUnitsPerBlock = std::int64_t{kRowLanes} * kUnitsPerLane;

/// The launch for rows of `width` units, in which lanes use for_units_of_lane.
inline LaunchShape shape_for_rows(const char* name, std::int64_t rows, std::int64_t width) {
  // Places in a row, and the lanes past its end, are counted in 32 bits.
  check(width + kUnitsPerBlock < Divisor::kLimit,
        fmt::format("cuda: rows of {} elements are too long", width));
  return {name, dim3(blocks_for(rows * width, kUnitsPerBlock)), dim3(kRowLanes)};
}

/// Calls body(row, place in the row) for this lane's units of `rows` rows, in memory order;
/// neighbouring lanes have adjacent units.
template <class Body>
__device__ void for_units_of_lane(std::int64_t rows, const Divisor& width, const Body& body) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kUnitsPerBlock;
  const Divisor::Split start = width.split(first);
  for (unsigned i = threadIdx.x; i < kUnitsPerBlock; i += kRowLanes) {
    const unsigned place = start.remainder + i;
    const unsigned down = width.quotient(place);
    if (start.quotient + down >= rows) {
      return;
    }
    body(start.quotient + down, place - down * width.divisor());
  }
}

}  // namespace bench::cuda
