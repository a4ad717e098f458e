#include "kernels/cpu/winograd.h"

#include <algorithm>

#include "kernels/cpu/winograd_passes.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// Tiles of a group are at most this many, and a multiple of the rows of a product in registers.
constexpr std::int64_t kMostTiles = 48;
/// The transformed input of a group is at most this large. It is read once for each group of output
/// channels, and should stay in the second cache and a part of the third.
constexpr std::int64_t kGroupBytes = std::int64_t{5} << 19;
/// Fewer tiles per thread do not pay for reading all filters.
constexpr std::int64_t kLeastTiles = 12;
/// The estimated time of transforming an element of a tile, and a filter, in multiply-adds.
constexpr std::int64_t kTileElementCost = 6;
constexpr std::int64_t kFilterCost = 200;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t floats_of_filters(const WinogradShape& shape) {
  return kWinogradPoints * shape.in_blocks * shape.out_blocks * kWinogradLanes * kWinogradLanes;
}

// Rows are longer than necessary, so that they do not all begin at the same place in the sets of a
// cache.
constexpr std::int64_t kProductRow = (kWinogradVectors + 1) * kWinogradLanes;
std::int64_t input_row(const WinogradShape& shape) {
  return (shape.in_blocks + 1) * kWinogradLanes;
}

/// The floats of one thread.
std::int64_t floats_of_group(const WinogradPlan& plan) {
  return kWinogradPoints * plan.group * (input_row(plan.shape) + kProductRow);
}

WinogradGroup group_of(const WinogradPlan& plan, float* workspace, int thread) {
  WinogradGroup group{
      .capacity = plan.group, .row = input_row(plan.shape), .product_row = kProductRow};
  group.input = workspace + floats_of_filters(plan.shape) + thread * floats_of_group(plan);
  group.products = group.input + kWinogradPoints * plan.group * group.row;
  return group;
}

}  // namespace

std::optional<WinogradPlan> plan_winograd(const WinogradShape& shape, int threads) {
  WinogradPlan plan{.shape = shape, .threads = threads};
  plan.tiles = tiles_of(shape);
  const std::int64_t tiles = plan.tiles;
  if (tiles < kLeastTiles * threads) {
    return std::nullopt;
  }
  const std::int64_t in_channels = shape.in_blocks * kWinogradLanes;
  const std::int64_t out_channels = shape.out_blocks * kWinogradLanes;
  const std::int64_t fitting =
      kGroupBytes / (kWinogradPoints * in_channels * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t most =
      std::clamp(fitting / kWinogradRows * kWinogradRows, kLeastTiles, kMostTiles);
  const std::int64_t of_thread = divide_up(tiles, threads);
  const std::int64_t equal = divide_up(of_thread, divide_up(of_thread, most));
  plan.group = divide_up(equal, kWinogradRows) * kWinogradRows;
  plan.groups = divide_up(tiles, plan.group);
  plan.imbalance =
      static_cast<double>(std::min(divide_up(plan.groups, threads) * plan.group, tiles)) * threads /
      static_cast<double>(tiles);
  plan.workspace_bytes =
      static_cast<std::size_t>(floats_of_filters(shape) + threads * floats_of_group(plan)) *
      sizeof(float);
  plan.multiply_adds = kWinogradPoints * tiles * in_channels * out_channels;
  plan.overhead = kTileElementCost * kWinogradPoints * tiles * (in_channels + out_channels) +
                  kFilterCost * in_channels * out_channels;
  return plan;
}

void winograd(ThreadTeam& team, const Winograd& args) {
  const WinogradPlan& plan = args.plan;
  check(team.size() == plan.threads, "winograd: the plan is for another number of threads");
  auto* const workspace = static_cast<float*>(args.workspace);
  team.parallel([&](int thread) {
    const std::int64_t blocks = plan.shape.in_blocks * plan.shape.out_blocks;
    const Range range = ThreadTeam::split(blocks, plan.threads, thread);
    for (std::int64_t block = range.begin; block < range.end; ++block) {
      transform_filters(args, block / plan.shape.in_blocks, block % plan.shape.in_blocks,
                        workspace);
    }
  });
  team.parallel([&](int thread) {
    WinogradGroup group = group_of(plan, workspace, thread);
    const Range range = ThreadTeam::split(plan.groups, plan.threads, thread);
    for (std::int64_t g = range.begin; g < range.end; ++g) {
      group.first = g * plan.group;
      group.count = std::min(plan.group, plan.tiles - group.first);
      convolve_group(args, group, workspace);
    }
  });
}

}  // namespace bench::cpu
