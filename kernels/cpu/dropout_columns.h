#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bench::cpu {

/// The maximum number of columns processed at once: a cache line of floats.
inline constexpr std::int64_t kTileColumns = 16;

/// Some rows of adjacent columns, with the factors of each column, row by row.
struct DropoutColumns {
  std::size_t count = 0;
  std::int64_t rows = 0;
  std::array<const float*, kTileColumns> factors{};
};

}  // namespace bench::cpu
