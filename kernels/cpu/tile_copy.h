#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/optimizer.h"

namespace bench::cpu {

/// Brings elements in f32 into a copy in 16 bits, where a TileOrder has them: to nearest, ties to
/// even. Orders that put elements into neighbouring places in pairs are fast.
class TileCopier {
 public:
  /// The order must outlive this. Throws InternalError for one that is none.
  TileCopier(const TileOrder& order, DType dtype);

  /// Elements from number `begin` on; both numbers are of whole tiles. `to` is the whole copy. On
  /// the calling thread.
  void copy(const float* from, std::size_t begin, std::size_t count, std::uint16_t* to) const;

 private:
  const TileOrder& order_;
  DType dtype_;
  /// Where each pair of rows of so many elements is joined element by element; else 0.
  std::size_t joined_rows_;
  /// Whether neighbours stay together in pairs.
  bool moves_pairs_;
};

}  // namespace bench::cpu
