#pragma once

#include <cstdint>

#include "kernels/cuda/gpu/view.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// The maximum number of lanes of a block that works on channels.
inline constexpr int kChannelLanes = 256;

/// Blocks of a summing kernel: about two waves on a large GPU, with few enough partial sums.
inline constexpr std::int64_t kBlocksForSums = 1024;

/// With this many adjacent bytes, memory is read at full speed and lanes are left for more pixels.
inline constexpr std::int64_t kTileBytes = 512;

/// How blocks share a tensor so that no lane ever changes channels. A block has `lanes_x` adjacent
/// lanes, each with a pack of neighbours, and `lanes_y` rows of them, one unit apart. A unit is a
/// pixel with all its channels in NHWC, an image in NCHW.
///
/// The grid is `tiles` x `chunks`. A tile is as many channels as a block's lanes cover in NHWC, and
/// one channel in NCHW. A chunk is a run of units.
///
///     NHWC, lanes of a block:
///     unit 0  | x0 x1 .. | next tile ..
///     unit 1  | x0 x1 .. |
///
///     NCHW, lanes of a block: the same planes of images.
///     image 0  .. | x0 x1 .. x0 x1 .. | next channel ..
///     image 1  .. | x0 x1 ..          |
struct ChannelTiling {
  /// NHWC if there is one pixel: both orders are then the same memory, and NHWC has longer runs.
  Order order = Order::nhwc;
  /// Elements of a pack: 16 bytes, 4 bytes or one element.
  int pack = 1;
  std::int64_t channels = 1;
  /// Adjacent elements of a channel: a plane's elements in NCHW, 1 in NHWC.
  std::int64_t run = 1;
  /// Packs side by side in a unit: over all channels in NHWC, over a plane in NCHW.
  std::int64_t packs = 1;
  std::int64_t units = 1;
  /// The distance between units, in elements.
  std::int64_t unit_stride = 1;
  std::int64_t units_per_chunk = 1;
  unsigned lanes_x = 1;
  unsigned lanes_y = 1;
  unsigned tiles = 1;
  unsigned chunks = 1;
};

/// About `blocks` blocks: fewer if lanes would have too little to do, more if f32 sums in one lane
/// would get too long. In NHWC a tile is at most `tile_bytes` of a pixel. The result depends only
/// on the arguments. So the order of sums, and every bit of a result, is the same on every GPU.
ChannelTiling channel_tiling(const View& view, DType dtype, std::int64_t blocks,
                             std::int64_t tile_bytes = kTileBytes);

/// The number of adjacent lanes, at most `most`, that take `packs` packs in whole turns. Example:
/// 17 for 33 packs, where 32 lanes would idle in half of their turns.
unsigned lanes_for(std::int64_t packs, std::int64_t most);

/// The widest pack, in elements, that divides `extent`; there are three kinds of packs.
int pack_for(DType dtype, std::int64_t extent);

}  // namespace bench::cuda
