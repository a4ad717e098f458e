#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "variable_mgmt/collectives/all_reduce_spec.h"

namespace bench {

/// One thing a member does: it adds the sources' elements, in that order, and writes the sum to all
/// targets. With one source that is a copy. Sources and targets are ranks.
struct ReduceStep {
  /// Another member that has to have done so many of its steps before.
  struct After {
    int rank = 0;
    std::size_t steps = 0;
  };
  std::size_t begin = 0;
  std::size_t count = 0;
  std::vector<int> sources;
  std::vector<int> targets;
  std::vector<After> after = {};
};

/// What every member does, in its order, so that all have the sum of all. The steps begin once all
/// members' elements are there.
using Schedule = std::vector<std::vector<ReduceStep>>;

struct ScheduleRequest {
  AllReduceRange range;
  int members = 1;
  std::size_t elements = 0;
  /// Which tensor of a step it is.
  std::size_t index = 0;
  /// Ranks in the order of a ring; empty: 0, 1, 2, ...
  std::span<const int> ring_order = {};
};

/// Throws UsageError for an algorithm or a number of shards that so many members of one host cannot
/// run, with the reason.
Schedule plan_schedule(const ScheduleRequest& request);

/// Whether each element is added in the same order wherever it lies in a stretch, so that packing
/// and splitting change no bits.
bool is_elementwise(const AllReduceRange& range);

/// The algorithms of plan_schedule() that a spec can name, but for those that are the same as
/// others.
std::vector<std::string> host_algorithms();

}  // namespace bench
