#include "kernels/cpu/spatial_mean.h"

#include <algorithm>

#include "kernels/cpu/cast.h"
#include "kernels/cpu/channel_passes.h"
#include "kernels/cpu/channel_workspace.h"
#include "kernels/cpu/element.h"

namespace bench::cpu {
namespace {

/// Calls work(thread, sample, group, its first element's offset) for all groups, split among the
/// threads.
template <class Work>
void for_sample_groups(ThreadTeam& team, const ChannelTiling& tiling, const Work& work) {
  const std::int64_t group_elements = tiling.rows * tiling.width;
  team.parallel([&](int thread) {
    const Range range = ThreadTeam::split(tiling.batch * tiling.groups, team.size(), thread);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      work(thread, i / tiling.groups, i % tiling.groups, i * group_elements);
    }
  });
}

/// Channels of a group, without padding.
std::int64_t real_channels(const ChannelTiling& tiling, std::int64_t group) {
  return std::min(tiling.width, tiling.channels - group * tiling.width);
}

}  // namespace

void spatial_mean(ThreadTeam& team, const SpatialMean& args) {
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const std::int64_t width = tiling.width;
  const std::int64_t chunk = width == 1 ? kSumElements : kSumRows;
  const double factor = 1.0 / static_cast<double>(tiling.rows);
  for_sample_groups(
      team, tiling, [&](int thread, std::int64_t sample, std::int64_t group, std::int64_t offset) {
        float* const sums = workspace.accumulators(thread).first;
        double* const total = workspace.first_partial(thread);
        std::fill_n(sums, accumulator_floats(width), 0.0F);
        std::fill_n(total, width, 0.0);
        for (std::int64_t row = 0; row < tiling.rows; row += chunk) {
          const std::int64_t take = std::min(chunk, tiling.rows - row);
          add_sums({.data = element(args.x, args.dtype, offset + row * width), .dtype = args.dtype},
                   {.rows = take, .width = width}, sums);
          flush_sums(width, sums, total);
        }
        const std::int64_t real = real_channels(tiling, group);
        std::transform(total, total + real, sums,
                       [&](double sum) { return static_cast<float>(sum * factor); });
        cast({.count = real,
              .x = sums,
              .to = args.dtype,
              .y = element(args.y, args.dtype, sample * tiling.channels + group * width)});
      });
}

void spatial_mean_backward(ThreadTeam& team, const SpatialMeanBackward& args) {
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const std::int64_t width = tiling.width;
  const float factor = 1.0F / static_cast<float>(tiling.rows);
  for_sample_groups(
      team, tiling, [&](int thread, std::int64_t sample, std::int64_t group, std::int64_t offset) {
        float* const values = workspace.accumulators(thread).first;
        const std::int64_t real = real_channels(tiling, group);
        const std::int64_t first = sample * tiling.channels + group * width;
        cast({.count = real,
              .from = args.dtype,
              .x = element(args.dy, args.dtype, first),
              .y = values});
        std::transform(values, values + real, values, [&](float dy) { return dy * factor; });
        std::fill(values + real, values + width, 0.0F);
        broadcast(
            {.rows = tiling.rows, .width = width},
            {.dtype = args.dtype, .values = values, .y = element(args.dx, args.dtype, offset)});
      });
}

}  // namespace bench::cpu
