#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "variable_mgmt/collectives/all_reduce_spec.h"

namespace bench {

/// One step of a member: it adds the sources' elements, in that order, and writes the sum to all
/// targets. With one source this is a copy. Sources and targets are ranks.
struct ReduceStep {
  /// Another member that must have done `steps` of its steps first.
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

/// The steps of every member, in order, after which all have the sum of all. They begin once all
/// members' elements are there.
using Schedule = std::vector<std::vector<ReduceStep>>;

struct ScheduleRequest {
  AllReduceRange range;
  int members = 1;
  std::size_t elements = 0;
  /// The tensor's number within a step.
  std::size_t index = 0;
  /// The ranks in ring order; empty: 0, 1, 2, ...
  std::span<const int> ring_order = {};
};

/// Throws UsageError, with the reason, if that many members of one host cannot run the algorithm or
/// its number of shards.
Schedule plan_schedule(const ScheduleRequest& request);

/// True if the order in which an element is added does not depend on its position in a buffer view.
/// Then packing and splitting change no bits.
bool is_elementwise(const AllReduceRange& range);

/// The algorithms of plan_schedule() that a spec can name, without duplicates under another name.
std::vector<std::string> host_algorithms();

}  // namespace bench
