#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/channel_view.h"

namespace bench::cpu {

/// Consecutive rows of one sample and group.
struct Tile {
  std::int64_t sample = 0;
  std::int64_t group = 0;
  /// The first row, counted within sample and group.
  std::int64_t row = 0;
  std::int64_t rows = 0;
  /// Offset of the first element, in elements.
  std::int64_t offset = 0;
};

/// The granularity at which threads may split a tiling's rows: cache lines, and enough elements to
/// be worth a thread.
inline std::int64_t tile_grain(const ChannelTiling& tiling) {
  const std::int64_t lines = kElementGrain / (tiling.width * tiling.row_grain());
  return std::max<std::int64_t>(1, lines) * tiling.row_grain();
}

/// Rows are numbered in memory order: by sample, then by group. Calls visit(tile) for the rows of
/// `range`, in order, with the longest possible tiles. Use it in kernels that treat all rows alike;
/// for_each_piece suits sums over samples better.
template <class Visit>
void for_each_tile(const ChannelTiling& tiling, Range range, const Visit& visit) {
  if (range.count() <= 0) {
    return;
  }
  Tile tile{.sample = range.begin / (tiling.groups * tiling.rows),
            .group = range.begin / tiling.rows % tiling.groups,
            .row = range.begin % tiling.rows,
            .rows = 0,
            .offset = range.begin * tiling.width};
  for (std::int64_t left = range.count(); left > 0; left -= tile.rows) {
    tile.rows = std::min(left, tiling.rows - tile.row);
    visit(tile);
    tile.offset += tile.rows * tiling.width;
    // Divides only once, because there are many small tiles.
    tile.row += tile.rows;
    if (tile.row == tiling.rows) {
      tile.row = 0;
      tile.group = tile.group + 1 == tiling.groups ? 0 : tile.group + 1;
      tile.sample += tile.group == 0 ? 1 : 0;
    }
  }
}

}  // namespace bench::cpu
