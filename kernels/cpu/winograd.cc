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
/// The estimated time of transforming an element of a tile, of transforming a filter, and of
/// reading a transformed one, in multiply-adds.
constexpr std::int64_t kTileElementCost = 14;
constexpr std::int64_t kFilterCost = 640;
constexpr std::int64_t kFilterReadCost = 180;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Rows are longer than necessary, so that they do not all begin at the same place in the sets of a
// cache.
std::int64_t product_row(const WinogradShape& shape) {
  return (winograd_vectors(shape.block) + 1) * shape.block;
}
std::int64_t input_row(const WinogradShape& shape) { return (shape.in_blocks + 1) * shape.block; }

WinogradFilterShape filters_of(const WinogradShape& shape) {
  return {.dtype = shape.dtype,
          .block = shape.block,
          .in_blocks = shape.in_blocks,
          .out_blocks = shape.out_blocks};
}

/// The floats of one thread.
std::int64_t floats_of_group(const WinogradPlan& plan) {
  return kWinogradPoints * plan.group * (input_row(plan.shape) + product_row(plan.shape));
}

/// The floats of the filters that each call transforms.
std::int64_t floats_of_filters(const WinogradPlan& plan) {
  return plan.order == WinogradFilters::transformed
             ? 0
             : winograd_filter_floats(filters_of(plan.shape));
}

WinogradGroup group_of(const WinogradPlan& plan, float* workspace, int thread) {
  WinogradGroup group{
      .capacity = plan.group, .row = input_row(plan.shape), .product_row = product_row(plan.shape)};
  group.input = workspace + floats_of_filters(plan) + thread * floats_of_group(plan);
  group.products = group.input + kWinogradPoints * plan.group * group.row;
  return group;
}

/// Groups of winograd_vectors() blocks of output channels; the last may be smaller. A part of the
/// channels consists of whole groups.
std::int64_t groups_of_blocks(const WinogradShape& shape) {
  return divide_up(shape.out_blocks, winograd_vectors(shape.block));
}

Range blocks_of_part(const WinogradPlan& plan, std::int64_t part) {
  const Range groups = ThreadTeam::split(groups_of_blocks(plan.shape), static_cast<int>(plan.parts),
                                         static_cast<int>(part));
  const std::int64_t vectors = winograd_vectors(plan.shape.block);
  return {.begin = groups.begin * vectors,
          .end = std::min(groups.end * vectors, plan.shape.out_blocks)};
}

/// Divides the work into groups and this many parts.
void divide(WinogradPlan& plan, std::int64_t parts) {
  const std::int64_t in_channels = plan.shape.in_blocks * plan.shape.block;
  const std::int64_t fitting =
      kGroupBytes / (kWinogradPoints * in_channels * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t most =
      std::clamp(fitting / kWinogradRows * kWinogradRows, kWinogradRows, kMostTiles);
  const std::int64_t of_thread = divide_up(plan.tiles * parts, plan.threads);
  const std::int64_t equal = divide_up(of_thread, divide_up(of_thread, most));
  plan.parts = parts;
  plan.group = std::min(divide_up(equal, kWinogradRows) * kWinogradRows, plan.tiles);
  plan.groups = divide_up(plan.tiles, plan.group);
  const std::int64_t out_channels =
      std::min(divide_up(groups_of_blocks(plan.shape), parts) * winograd_vectors(plan.shape.block),
               plan.shape.out_blocks) *
      plan.shape.block;
  const std::int64_t each =
      kWinogradPoints * plan.group *
          (in_channels * out_channels + kTileElementCost * (in_channels + out_channels)) +
      kFilterReadCost * in_channels * out_channels;
  const std::int64_t of_busiest =
      divide_up(plan.groups * parts, plan.threads) * each * plan.threads;
  const bool transforms = plan.order != WinogradFilters::transformed;
  plan.cost =
      of_busiest +
      (transforms ? kFilterCost * in_channels * plan.shape.out_blocks * plan.shape.block : 0);
}

void transform_all(ThreadTeam& team, const WinogradFilterShape& shape,
                   const WinogradFilterBlocks& filters, float* transformed) {
  const WinogradPasses& passes = winograd_passes(shape.block, shape.dtype);
  team.parallel([&](int thread) {
    const Range range =
        ThreadTeam::split(filters.in_blocks * filters.out_blocks, team.size(), thread);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      passes.transform_filters(filters, i / filters.in_blocks, i % filters.in_blocks, transformed);
    }
  });
}

}  // namespace

WinogradPlan plan_winograd(const WinogradShape& shape, WinogradFilters order, int threads) {
  WinogradPlan plan{.shape = shape, .order = order, .threads = threads, .tiles = tiles_of(shape)};
  divide(plan, 1);
  for (std::int64_t parts = 2; parts <= std::min<std::int64_t>(threads, groups_of_blocks(shape));
       ++parts) {
    WinogradPlan other = plan;
    divide(other, parts);
    plan = other.cost < plan.cost ? other : plan;
  }
  plan.workspace_bytes =
      static_cast<std::size_t>(floats_of_filters(plan) + threads * floats_of_group(plan)) *
      sizeof(float);
  plan.multiply_adds =
      kWinogradPoints * plan.tiles * shape.in_blocks * shape.out_blocks * shape.block * shape.block;
  return plan;
}

std::int64_t winograd_filter_floats(const WinogradFilterShape& shape) {
  return kWinogradPoints * shape.in_blocks * shape.out_blocks * shape.block * shape.block;
}

void transform_winograd_filters(ThreadTeam& team, const WinogradFilterShape& shape,
                                const void* filters, float* transformed) {
  transform_all(team, shape,
                {.in_blocks = shape.in_blocks, .out_blocks = shape.out_blocks, .data = filters},
                transformed);
}

void winograd(ThreadTeam& team, const Winograd& args) {
  const WinogradPlan& plan = args.plan;
  check(team.size() == plan.threads, "winograd: the plan is for another number of threads");
  auto* const workspace = static_cast<float*>(args.workspace);
  const bool transforms = plan.order != WinogradFilters::transformed;
  if (transforms) {
    transform_all(team, filters_of(plan.shape),
                  {.order = plan.order,
                   .in_blocks = plan.shape.in_blocks,
                   .out_blocks = plan.shape.out_blocks,
                   .data = args.filters},
                  workspace);
  }
  const auto* const filters = transforms ? workspace : static_cast<const float*>(args.filters);
  const WinogradPasses& passes = winograd_passes(plan.shape.block, plan.shape.dtype);
  team.parallel([&](int thread) {
    WinogradGroup group = group_of(plan, workspace, thread);
    const Range range = ThreadTeam::split(plan.groups * plan.parts, plan.threads, thread);
    for (std::int64_t item = range.begin; item < range.end; ++item) {
      group.first = item % plan.groups * plan.group;
      group.count = std::min(plan.group, plan.tiles - group.first);
      passes.convolve_group(args, group, filters, blocks_of_part(plan, item / plan.groups));
    }
  });
}

}  // namespace bench::cpu
