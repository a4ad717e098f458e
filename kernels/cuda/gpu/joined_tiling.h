#pragma once

#include <cstddef>

#include "kernels/cuda/gpu/channel_tiling.h"

namespace bench::cuda {

/// How a kernel with two sums per channel divides a tensor, and which kernel joins the sums.
struct JoinedTiling {
  ChannelTiling tiling;
  /// True if the last block of each tile joins them, false if a second kernel does.
  bool by_last_block = false;
};

/// The last block joins if it can read the partial sums in about two microseconds and enough blocks
/// remain for a large GPU. Tiles are then one cache line wide, so that there are more of them.
JoinedTiling joined_tiling(const View& view, DType dtype);

/// Bytes of tickets for the last blocks; 0 if a second kernel joins.
std::size_t ticket_bytes(const JoinedTiling& joined);

}  // namespace bench::cuda
