#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/gpu/element.h"

// Kernels that copy rows of a matrix, with a block per row.

namespace bench::cuda {

/// A block for each of the rows of the kernel `name`.
inline dim3 row_grid(const char* name, std::int64_t rows) {
  check(rows > 0 && rows <= std::numeric_limits<int>::max(),
        fmt::format("cuda: {} cannot have {} rows", name, rows));
  return dim3(static_cast<unsigned>(rows));
}

/// The shape of a kernel that copies rows of that many packs.
inline LaunchShape row_shape(const char* name, std::int64_t rows, std::int64_t packs) {
  constexpr unsigned kFewest = 32;
  constexpr unsigned kMost = 256;
  unsigned lanes = kFewest;
  while (lanes < kMost && lanes < packs) {
    lanes *= 2;
  }
  return {name, row_grid(name, rows), dim3(lanes)};
}

/// Calls body(ElementTag, integral_constant of N), where N divides the columns. So every row begins
/// at an address that is aligned for a pack of N elements.
template <class Body>
void with_packs(DType dtype, std::int64_t columns, const Body& body) {
  with_element(dtype, [&](auto tag) {
    constexpr int kMost = kWidest<typename decltype(tag)::type>;
    if (columns % kMost == 0) {
      body(tag, std::integral_constant<int, kMost>{});
    } else if (columns % 2 == 0) {
      body(tag, std::integral_constant<int, 2>{});
    } else {
      body(tag, std::integral_constant<int, 1>{});
    }
  });
}

/// Copies a row in packs of N elements, which must divide it.
template <class T, int N>
__device__ void copy_row(const T* from, T* to, std::int64_t columns) {
  for (std::int64_t i = threadIdx.x; i < columns / N; i += blockDim.x) {
    store_pack<N>(to + i * N, load_pack<N>(from + i * N));
  }
}

}  // namespace bench::cuda
