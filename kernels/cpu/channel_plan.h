#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/channel_workspace.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// The rows of each thread. If groups divide well among the threads, each thread gets whole groups.
/// It then reduces a group and applies the result while the group is still in its cache. Otherwise
/// threads get equal numbers of rows and share groups.
class RowPlan {
 public:
  RowPlan(const ChannelTiling& tiling, int threads) : tiling_(tiling), threads_(threads) {
    // At most a tenth of the threads' time is idle.
    const std::int64_t most = (tiling.groups + threads - 1) / threads;
    whole_groups_ = 10 * tiling.groups >= 9 * most * threads;
  }

  [[nodiscard]] bool whole_groups() const { return whole_groups_; }
  [[nodiscard]] Range groups(int thread) const {
    return ThreadTeam::split(tiling_.groups, threads_, thread);
  }
  [[nodiscard]] Range rows_of_group(std::int64_t group) const {
    return {.begin = group * tiling_.group_rows(), .end = (group + 1) * tiling_.group_rows()};
  }
  /// A thread's rows when groups are shared.
  [[nodiscard]] Range rows(int thread) const {
    return ThreadTeam::split(tiling_.all_rows(), threads_, thread, tiling_.row_grain());
  }
  /// The number of the group's rows that the thread has.
  [[nodiscard]] std::int64_t rows(int thread, std::int64_t group) const {
    const Range all = rows_of_group(group);
    if (whole_groups_) {
      const Range mine = groups(thread);
      return group >= mine.begin && group < mine.end ? all.count() : 0;
    }
    const Range mine = rows(thread);
    return std::max<std::int64_t>(0, std::min(all.end, mine.end) - std::max(all.begin, mine.begin));
  }
  /// Rows per piece for passes over a range: about 64 KiB.
  [[nodiscard]] std::int64_t piece_rows() const {
    constexpr std::int64_t kPieceElements = 16384;
    return std::max<std::int64_t>(4, kPieceElements / tiling_.width / 4 * 4);
  }

 private:
  ChannelTiling tiling_;
  int threads_;
  bool whole_groups_;
};

/// Threads begin..end-1 may have partial results for channels of one group (all of its channels).
struct GroupChannels {
  std::int64_t group = 0;
  Range channels;
  Range threads;
};

/// Adds both partials of these channels to those of the first thread that has any; returns it.
inline int sum_threads(const GroupChannels& part, const RowPlan& plan,
                       const ChannelWorkspace& workspace) {
  int into = -1;
  for (int thread = static_cast<int>(part.threads.begin); thread < part.threads.end; ++thread) {
    if (plan.rows(thread, part.group) == 0) {
      continue;
    }
    if (into < 0) {
      into = thread;
      continue;
    }
    for (std::int64_t c = part.channels.begin; c < part.channels.end; ++c) {
      workspace.first_partial(into)[c] += workspace.first_partial(thread)[c];
      workspace.second_partial(into)[c] += workspace.second_partial(thread)[c];
    }
  }
  return into;
}

/// Calls reduce(thread, rows) for every thread's rows, then finish(GroupChannels) for all padded
/// channels, then apply(rows) for all rows. Each thread applies to the rows that it reduced.
template <class Reduce, class Finish, class Apply>
void reduce_and_apply(ThreadTeam& team, const ChannelTiling& tiling, const Reduce& reduce,
                      const Finish& finish, const Apply& apply) {
  if (tiling.padded_channels() == 0) {
    return;
  }
  const RowPlan plan(tiling, team.size());
  if (plan.whole_groups()) {
    team.parallel([&](int thread) {
      const Range mine = plan.groups(thread);
      for (std::int64_t group = mine.begin; group < mine.end; ++group) {
        const Range rows = plan.rows_of_group(group);
        reduce(thread, rows);
        finish(GroupChannels{
            .group = group,
            .channels = {.begin = group * tiling.width, .end = (group + 1) * tiling.width},
            .threads = {.begin = thread, .end = thread + 1}});
        apply(rows);
      }
    });
    return;
  }
  team.parallel([&](int thread) { reduce(thread, plan.rows(thread)); });
  constexpr std::int64_t kCacheLineFloats = 16;
  team.for_ranges(tiling.padded_channels(), kCacheLineFloats, [&](Range channels) {
    for (std::int64_t channel = channels.begin; channel < channels.end;) {
      const std::int64_t group = channel / tiling.width;
      const std::int64_t end = std::min(channels.end, (group + 1) * tiling.width);
      finish(GroupChannels{.group = group,
                           .channels = {.begin = channel, .end = end},
                           .threads = {.begin = 0, .end = team.size()}});
      channel = end;
    }
  });
  team.parallel([&](int thread) { apply(plan.rows(thread)); });
}

}  // namespace bench::cpu
