#pragma once

#include <cstddef>

#include "kernels/cuda/gpu/channel_tiling.h"

namespace bench::cuda {

/// How a kernel with two sums per channel shares a tensor, and who joins them.
struct JoinedTiling {
  ChannelTiling tiling;
  /// The last block of each tile; otherwise a second kernel.
  bool by_last_block = false;
};

/// By the last block where it reads what it joins in about two microseconds and there are blocks
/// enough for a large GPU all the same: tiles of a cache line, so that there are more of them.
JoinedTiling joined_tiling(const View& view, DType dtype);

/// Of tickets for the last blocks, in bytes: 0 where a second kernel joins.
std::size_t ticket_bytes(const JoinedTiling& joined);

}  // namespace bench::cuda
