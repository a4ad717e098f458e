#include "kernels/cpu/channel_shuffle.h"

#include <cstring>
#include <limits>

#include "kernels/cpu/channel_tiles.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// Copies y's columns of each row from x's, each from a separate position. Loads one by one: where
/// a vector's gather is microcoded it is not faster, and memory is the limit here.
template <class T>
void shuffle_tile(const T* x, const std::int32_t* sources, std::int64_t rows, std::int64_t width,
                  T* y) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      y[column] = x[sources[column]];
    }
    x += width;
    y += width;
  }
}

/// T has the size of an element.
template <class T>
void shuffle(ThreadTeam& team, const ChannelShuffle& args) {
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const std::int64_t width = tiling.width;
  const std::int64_t sample_elements = tiling.groups * tiling.rows * width;
  team.for_ranges(tiling.batch * tiling.groups * tiling.rows, tile_grain(tiling), [&](Range range) {
    for_each_tile(tiling, range, [&](const Tile& tile) {
      const T* const x =
          static_cast<const T*>(args.x) + tile.sample * sample_elements + tile.row * width;
      const std::int32_t* const sources = args.sources.data() + tile.group * width;
      T* const y = static_cast<T*>(args.y) + tile.offset;
      if (width == 1) {
        std::memcpy(y, x + *sources, static_cast<std::size_t>(tile.rows) * sizeof(T));
      } else {
        shuffle_tile(x, sources, tile.rows, width, y);
      }
    });
  });
}

}  // namespace

void channel_shuffle(ThreadTeam& team, const ChannelShuffle& args) {
  switch (size_of(args.dtype)) {
    case sizeof(std::uint8_t):
      return shuffle<std::uint8_t>(team, args);
    case sizeof(std::uint16_t):
      return shuffle<std::uint16_t>(team, args);
    case sizeof(std::uint32_t):
      return shuffle<std::uint32_t>(team, args);
    default:
      return shuffle<std::uint64_t>(team, args);
  }
}

std::vector<std::int32_t> shuffle_sources(const ChannelView& view, std::int64_t groups) {
  const ChannelTiling tiling = ChannelTiling::by_sample(view);
  check(tiling.groups * tiling.rows * tiling.width <= std::numeric_limits<std::int32_t>::max(),
        "channel shuffle: a sample is too large");
  const std::int64_t each = view.channels / groups;
  std::vector<std::int32_t> sources;
  sources.reserve(static_cast<std::size_t>(tiling.padded_channels()));
  for (std::int64_t channel = 0; channel < tiling.padded_channels(); ++channel) {
    // Padding is copied from padding.
    const std::int64_t from =
        channel < view.channels ? channel % groups * each + channel / groups : channel;
    sources.push_back(static_cast<std::int32_t>(from / tiling.width * tiling.rows * tiling.width +
                                                from % tiling.width));
  }
  return sources;
}

}  // namespace bench::cpu
