#pragma once

#include <cstdint>

#include "kernels/cpu/winograd.h"

// The passes of winograd(), each on one thread. They need a processor with AVX-512F.

namespace bench::cpu {

/// Outputs per side of a tile, and elements of a transformed tile.
inline constexpr std::int64_t kWinogradTile = 4;
inline constexpr std::int64_t kWinogradPoints = 36;
/// Channels of a block: the floats of a vector.
inline constexpr std::int64_t kWinogradLanes = 16;
/// The matrix product in registers: tiles times vectors of output channels.
inline constexpr std::int64_t kWinogradRows = 6;
inline constexpr std::int64_t kWinogradVectors = 4;

/// The first output of a tile.
struct WinogradCorner {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};
WinogradCorner corner_of(const WinogradShape& shape, std::int64_t tile);
/// The number of tiles, including those that reach beyond y.
std::int64_t tiles_of(const WinogradShape& shape);

/// Transforms the inputs of a tile: [36][in channels], with `step` floats from point to point.
void transform_input_tile(const WinogradShape& shape, const WinogradCorner& corner, const float* x,
                          float* to, std::int64_t step);

/// Consecutive tiles of one thread, and its memory.
struct WinogradGroup {
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// The most tiles.
  std::int64_t capacity = 0;
  /// Floats of a tile at one point, in `input` and in `products`.
  std::int64_t row = 0;
  std::int64_t product_row = 0;
  /// [36][capacity][row].
  float* input = nullptr;
  /// [36][capacity][product_row].
  float* products = nullptr;
};

/// Filters in the order `forward` or `backward_data`.
struct WinogradFilterBlocks {
  WinogradFilters order = WinogradFilters::forward;
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  const float* data = nullptr;
};
/// Transforms the filters between a block of input channels and one of output channels.
void transform_filters(const WinogradFilterBlocks& filters, std::int64_t out_block,
                       std::int64_t in_block, float* transformed);

/// Computes these blocks of output channels for a group of tiles. `filters` are transformed.
void convolve_group(const Winograd& args, const WinogradGroup& group, const float* filters,
                    Range out_blocks);

}  // namespace bench::cpu
