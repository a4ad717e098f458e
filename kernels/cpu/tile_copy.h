#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/optimizer.h"

namespace bench::cpu {

/// Writes f32 elements to a 16-bit copy in the order of a TileOrder: to nearest, ties to even.
/// Orders that keep elements adjacent in pairs are fast.
class TileCopier {
 public:
  /// The order must outlive this object. Throws InternalError if it is invalid.
  TileCopier(const TileOrder& order, DType dtype);

  /// Copies elements from number `begin` on; `begin` and `count` are multiples of a tile. `to` is
  /// the whole copy. Runs on the calling thread.
  void copy(const float* from, std::size_t begin, std::size_t count, std::uint16_t* to) const;

 private:
  const TileOrder& order_;
  DType dtype_;
  /// The row length if each pair of rows is joined element by element; else 0.
  std::size_t joined_rows_;
  /// True if neighbours stay together in pairs.
  bool moves_pairs_;
};

}  // namespace bench::cpu
