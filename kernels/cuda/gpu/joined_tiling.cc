#include "kernels/cuda/gpu/joined_tiling.h"

namespace bench::cuda {
namespace {

/// The most bytes of partial sums that one block reads.
constexpr std::int64_t kMostJoinedBytes = std::int64_t{64} << 10U;
/// Three blocks for each two multiprocessors of a large GPU keep enough reads in flight.
constexpr std::int64_t kFewestBlocks = 192;
constexpr std::int64_t kCacheLine = 128;
constexpr std::int64_t kSums = 2;

std::int64_t blocks_of(const ChannelTiling& tiling) {
  return std::int64_t{tiling.tiles} * tiling.chunks;
}

}  // namespace

JoinedTiling joined_tiling(const View& view, DType dtype) {
  ChannelTiling tiling = channel_tiling(view, dtype, kBlocksForSums, kCacheLine);
  const std::int64_t channels_of_tile =
      tiling.order == Order::nhwc ? std::int64_t{tiling.lanes_x} * tiling.pack : 1;
  const auto bytes_of_chunk = kSums * channels_of_tile * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t most_chunks = kMostJoinedBytes / bytes_of_chunk;
  if (tiling.chunks > most_chunks) {
    tiling = channel_tiling(view, dtype, most_chunks * tiling.tiles, kCacheLine);
    if (tiling.chunks > most_chunks || blocks_of(tiling) < kFewestBlocks) {
      return {.tiling = channel_tiling(view, dtype, kBlocksForSums), .by_last_block = false};
    }
  }
  return {.tiling = tiling, .by_last_block = true};
}

std::size_t ticket_bytes(const JoinedTiling& joined) {
  return joined.by_last_block ? joined.tiling.tiles * sizeof(unsigned) : 0;
}

}  // namespace bench::cuda
