#include "kernels/cpu/bias.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/channel_passes.h"
#include "kernels/cpu/channel_plan.h"
#include "kernels/cpu/channel_workspace.h"
#include "kernels/cpu/element.h"

namespace bench::cpu {
namespace {

/// Sums of each group's rows in `rows`, into the thread's first partial.
void reduce_sums(Elements dy, const ChannelTiling& tiling, Range rows,
                 const ChannelWorkspace& workspace, int thread) {
  const std::int64_t width = tiling.width;
  const std::int64_t chunk = width == 1 ? kSumElements : kSumRows;
  float* const sums = workspace.accumulators(thread).first;
  std::fill_n(sums, accumulator_floats(width), 0.0F);
  std::int64_t group = -1;
  for_each_piece(tiling, rows, chunk, [&](const Piece& piece) {
    double* const total = workspace.first_partial(thread) + piece.group * width;
    if (piece.group != group) {
      group = piece.group;
      std::fill_n(total, width, 0.0);
      std::fill_n(workspace.second_partial(thread) + group * width, width, 0.0);
    }
    add_sums({.data = element(dy.data, dy.dtype, piece.offset), .dtype = dy.dtype},
             {.rows = piece.rows, .width = width}, sums);
    flush_sums(width, sums, total);
  });
}

}  // namespace

void bias_add(ThreadTeam& team, const BiasAdd& args) {
  const ChannelTiling tiling = ChannelTiling::joined(args.view);
  if (args.view.elements() == 0) {
    return;
  }
  // A padded last block reads its bias from here, so that padding stays zero.
  std::array<float, ChannelView::kLargestBlock> last{};
  const std::int64_t last_group = tiling.groups - 1;
  const bool padded = tiling.padded_channels() != tiling.channels;
  if (padded) {
    const std::int64_t channel = last_group * tiling.width;
    std::copy(args.bias + channel, args.bias + tiling.channels, last.begin());
  }
  const RowPlan plan(tiling, team.size());
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / tiling.width);
  team.for_ranges(tiling.all_rows(), grain, [&](Range rows) {
    for_each_piece(tiling, rows, plan.piece_rows(), [&](const Piece& piece) {
      add_bias(
          {.rows = piece.rows, .width = tiling.width},
          {.dtype = args.dtype,
           .x = element(args.x, args.dtype, piece.offset),
           .bias = padded && piece.group == last_group ? last.data()
                                                       : args.bias + piece.group * tiling.width,
           .y = element(args.y, args.dtype, piece.offset)});
    });
  });
}

void bias_backward(ThreadTeam& team, const BiasBackward& args) {
  const ChannelTiling tiling = ChannelTiling::joined(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const RowPlan plan(tiling, team.size());
  reduce_and_apply(
      team, tiling,
      [&](int thread, Range rows) {
        reduce_sums({.data = args.dy, .dtype = args.dtype}, tiling, rows, workspace, thread);
      },
      [&](const GroupChannels& part) {
        const double* const sums = workspace.first_partial(sum_threads(part, plan, workspace));
        const std::int64_t end = std::min(part.channels.end, tiling.channels);
        for (std::int64_t channel = part.channels.begin; channel < end; ++channel) {
          args.dbias[channel] = static_cast<float>(sums[channel]);
        }
      },
      [](Range) {});
}

}  // namespace bench::cpu
