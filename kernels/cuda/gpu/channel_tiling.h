#pragma once

#include <cstdint>

#include "kernels/cuda/gpu/view.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// The most lanes of a block that works on channels.
inline constexpr int kChannelLanes = 256;

/// Blocks of a kernel that sums: two waves or so on a large GPU, and few enough partial sums.
inline constexpr std::int64_t kBlocksForSums = 1024;

/// With so many bytes side by side memory is read at full speed, and lanes are left for more
/// pixels.
inline constexpr std::int64_t kTileBytes = 512;

/// How blocks share a tensor so that no lane ever changes channels. A block has `lanes_x` lanes
/// side by side in memory, each with a pack of neighbours, and `lanes_y` of these, a unit apart. A
/// unit is a pixel with all its channels in NHWC, an image in NCHW. The grid is `tiles` x `chunks`:
/// a tile is as many channels as a block's lanes lie on in NHWC, and one channel in NCHW; a chunk
/// is a run of units.
///
///     NHWC, lanes of a block                NCHW, lanes of a block: the same planes of images
///     unit 0  | x0 x1 .. | next tile ..     image 0  .. | x0 x1 .. x0 x1 .. | next channel ..
///     unit 1  | x0 x1 .. |                  image 1  .. | x0 x1 ..          |
struct ChannelTiling {
  /// NHWC wherever there is one pixel: then both orders are the same memory, and this one has
  /// longer runs.
  Order order = Order::nhwc;
  /// Elements of a pack: 16 bytes, 4 bytes or one element.
  int pack = 1;
  std::int64_t channels = 1;
  /// Of a plane in NCHW, 1 in NHWC: how many elements of a channel lie side by side.
  std::int64_t run = 1;
  /// Side by side in a unit: over all its channels in NHWC, over a plane in NCHW.
  std::int64_t packs = 1;
  std::int64_t units = 1;
  /// From one unit to the next one, in elements.
  std::int64_t unit_stride = 1;
  std::int64_t units_per_chunk = 1;
  unsigned lanes_x = 1;
  unsigned lanes_y = 1;
  unsigned tiles = 1;
  unsigned chunks = 1;
};

/// About `blocks` blocks, fewer where lanes would have too little to do, more where f32 sums in one
/// lane would get long. Depends on nothing but its arguments: the order of sums, and with it every
/// bit of a result, is the same on every GPU. In NHWC a tile is at most `tile_bytes` of a pixel.
ChannelTiling channel_tiling(const View& view, DType dtype, std::int64_t blocks,
                             std::int64_t tile_bytes = kTileBytes);

/// How many lanes side by side, at most `most` of them, take so many packs in whole turns: 17 for
/// 33 packs where 32 lanes would idle in half of their turns.
unsigned lanes_for(std::int64_t packs, std::int64_t most);

/// The widest of the three kinds of packs, in elements, that `extent` is a multiple of.
int pack_for(DType dtype, std::int64_t extent);

}  // namespace bench::cuda
