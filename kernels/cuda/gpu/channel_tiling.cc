#include "kernels/cuda/gpu/channel_tiling.h"

#include <algorithm>

namespace bench::cuda {
namespace {

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Packs per lane. Fewer do not pay for a block's work before and after them; more make sums in f32
/// too long.
constexpr std::int64_t kFewestSteps = 8;
constexpr std::int64_t kMostSteps = 512;
/// The most packs that kernels read at once.
constexpr std::int64_t kStepsAtOnce = 4;
/// The limit of a grid in y.
constexpr std::int64_t kMostChunks = 65535;

/// The most lanes of a block side by side on packs of NHWC channels.
std::int64_t most_lanes_on_channels(DType dtype, int pack, std::int64_t tile_bytes) {
  const auto bytes = static_cast<std::int64_t>(size_of(dtype)) * pack;
  return std::clamp<std::int64_t>(tile_bytes / bytes, 1, kChannelLanes / 2);
}

/// Units per lane, where one unit is `steps_per_unit` steps.
std::int64_t units_per_lane(const ChannelTiling& tiling, std::int64_t steps_per_unit,
                            std::int64_t blocks) {
  const std::int64_t chunks = std::max<std::int64_t>(1, blocks / tiling.tiles);
  const std::int64_t most = std::max<std::int64_t>(1, kMostSteps / steps_per_unit);
  std::int64_t units = std::clamp(divided_up(tiling.units, chunks * tiling.lanes_y),
                                  std::min(most, divided_up(kFewestSteps, steps_per_unit)), most);
  units = std::max(units, divided_up(tiling.units, kMostChunks * tiling.lanes_y));
  return steps_per_unit == 1 ? divided_up(units, kStepsAtOnce) * kStepsAtOnce : units;
}

}  // namespace

int pack_for(DType dtype, std::int64_t extent) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t bytes : {16, 4}) {
    const std::int64_t pack = bytes / element;
    if (extent % pack == 0) {
      return static_cast<int>(pack);
    }
  }
  return 1;
}

unsigned lanes_for(std::int64_t packs, std::int64_t most) {
  return static_cast<unsigned>(divided_up(packs, divided_up(packs, most)));
}

ChannelTiling channel_tiling(const View& view, DType dtype, std::int64_t blocks,
                             std::int64_t tile_bytes) {
  ChannelTiling tiling{.channels = view.channels};
  std::int64_t steps_per_unit = 1;
  if (view.order == Order::nhwc || view.spatial == 1) {
    tiling.units = view.batch * view.spatial;
    tiling.unit_stride = view.channels;
    tiling.pack = pack_for(dtype, view.channels);
    tiling.packs = view.channels / tiling.pack;
    tiling.lanes_x =
        lanes_for(tiling.packs, most_lanes_on_channels(dtype, tiling.pack, tile_bytes));
    tiling.tiles = static_cast<unsigned>(divided_up(tiling.packs, tiling.lanes_x));
  } else {
    tiling.order = Order::nchw;
    tiling.run = view.spatial;
    tiling.units = view.batch;
    tiling.unit_stride = view.channels * view.spatial;
    tiling.pack = pack_for(dtype, view.spatial);
    tiling.packs = view.spatial / tiling.pack;
    tiling.lanes_x = lanes_for(tiling.packs, kChannelLanes);
    tiling.tiles = static_cast<unsigned>(view.channels);
    steps_per_unit = divided_up(tiling.packs, tiling.lanes_x);
  }
  tiling.lanes_y = kChannelLanes / tiling.lanes_x;
  tiling.units_per_chunk = units_per_lane(tiling, steps_per_unit, blocks) * tiling.lanes_y;
  tiling.chunks = static_cast<unsigned>(divided_up(tiling.units, tiling.units_per_chunk));
  return tiling;
}

}  // namespace bench::cuda
