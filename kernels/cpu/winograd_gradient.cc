#include "kernels/cpu/winograd_gradient.h"

#include <algorithm>

#include "kernels/cpu/winograd_passes.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// Bytes of a chunk's transforms: enough to add to all filters rarely, and not more than the caches
/// hold if the filters are small.
constexpr std::int64_t kLeastChunkBytes = std::int64_t{8} << 20;
constexpr std::int64_t kMostChunkBytes = std::int64_t{64} << 20;
// Estimated times in multiply-adds: for an element of a tile, and for a filter, to transform; and
// to add a chunk's sum to an element of a transformed filter.
constexpr std::int64_t kTileElementCost = 6;
constexpr std::int64_t kFilterCost = 200;
constexpr std::int64_t kSumCost = 10;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t in_channels(const WinogradShape& shape) { return shape.in_blocks * shape.block; }
std::int64_t out_channels(const WinogradShape& shape) { return shape.out_blocks * shape.block; }

std::int64_t floats_of_sums(const WinogradShape& shape) {
  return kWinogradPoints * in_channels(shape) * out_channels(shape);
}

/// Rows are longer than necessary, so that they do not all begin at the same place in the sets of a
/// cache.
std::int64_t in_row(const WinogradShape& shape) { return in_channels(shape) + shape.block; }
std::int64_t out_row(const WinogradShape& shape) { return out_channels(shape) + shape.block; }

}  // namespace

WinogradGradientPlan plan_winograd_gradient(const WinogradShape& shape, int threads) {
  WinogradGradientPlan plan{.shape = shape, .threads = threads};
  plan.tiles = tiles_of(shape);
  const std::int64_t in = in_channels(shape);
  const std::int64_t out = out_channels(shape);
  constexpr std::int64_t kFloatBytes = sizeof(float);
  const std::int64_t tile_floats = kWinogradPoints * (in_row(shape) + out_row(shape));
  const std::int64_t bytes =
      std::clamp(2 * floats_of_sums(shape) * kFloatBytes, kLeastChunkBytes, kMostChunkBytes);
  const std::int64_t most = std::max<std::int64_t>(bytes / (tile_floats * kFloatBytes), 1);
  const std::int64_t chunks = divide_up(plan.tiles, most);
  plan.chunk = divide_up(plan.tiles, chunks);
  plan.workspace_bytes =
      static_cast<std::size_t>((floats_of_sums(shape) + plan.chunk * tile_floats) * kFloatBytes);
  plan.multiply_adds = kWinogradPoints * plan.tiles * in * out;
  plan.overhead = kTileElementCost * kWinogradPoints * plan.tiles * (in + out) +
                  (kFilterCost + chunks * kSumCost * kWinogradPoints) * in * out;
  return plan;
}

void winograd_gradient(ThreadTeam& team, const WinogradGradient& args) {
  const WinogradGradientPlan& plan = args.plan;
  const WinogradShape& shape = plan.shape;
  check(team.size() == plan.threads, "winograd: the plan is for another number of threads");
  const WinogradPasses& passes = winograd_passes(shape.block, shape.dtype);
  WinogradChunk chunk{.capacity = plan.chunk, .in_row = in_row(shape), .out_row = out_row(shape)};
  chunk.sums = static_cast<float*>(args.workspace);
  chunk.input = chunk.sums + floats_of_sums(shape);
  chunk.gradient = chunk.input + kWinogradPoints * plan.chunk * chunk.in_row;
  for (std::int64_t first = 0; first < plan.tiles; first += plan.chunk) {
    chunk.first = first;
    chunk.count = std::min(plan.chunk, plan.tiles - first);
    team.parallel([&](int thread) {
      const Range range = ThreadTeam::split(chunk.count, plan.threads, thread);
      for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
        passes.transform_tile(args, chunk, tile);
      }
    });
    team.parallel([&](int thread) {
      const Range range =
          ThreadTeam::split(kWinogradPoints * shape.in_blocks, plan.threads, thread);
      for (std::int64_t item = range.begin; item < range.end; ++item) {
        passes.add_products(shape, chunk, item / shape.in_blocks, item % shape.in_blocks);
      }
    });
  }
  team.parallel([&](int thread) {
    const Range range = ThreadTeam::split(shape.out_blocks * shape.in_blocks, plan.threads, thread);
    for (std::int64_t block = range.begin; block < range.end; ++block) {
      passes.write_filters(args, chunk.sums, block / shape.in_blocks, block % shape.in_blocks);
    }
  });
}

}  // namespace bench::cpu
