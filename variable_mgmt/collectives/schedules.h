#pragma once

#include <cstddef>
#include <vector>

#include "variable_mgmt/collectives/schedule.h"

namespace bench {

/// The algorithms of plan_schedule, for two members or more.

/// Each member adds one slice of all members' elements and writes the sum to all of them.
Schedule plan_shm(const ScheduleRequest& request);
/// Reduce-scatter and all-gather around a ring. Each member's segment is cut into `shards`. Each
/// shard goes around a ring with another starting place, so that one is added while another waits.
Schedule plan_xring(const ScheduleRequest& request);
/// One member, the one with the host's processors, adds all; the others copy.
Schedule plan_pscpu(const ScheduleRequest& request);
/// Cuts the elements into `shards`. Each member of a group of that size adds one shard; all copy.
/// Tensors use the groups in turn.
Schedule plan_psgpu(const ScheduleRequest& request);
/// Recursive halving, then doubling. Members beyond a power of two give their elements to one below
/// it.
Schedule plan_rechd(const ScheduleRequest& request);
/// Up a binomial tree to rank 0 and down again, in consecutive pieces.
Schedule plan_tree(const ScheduleRequest& request);
/// Each half adds to its leader, and the leaders add each other's sums.
Schedule plan_dgx1(const ScheduleRequest& request);
Schedule plan_gcp_v100(const ScheduleRequest& request);

/// 0..members-1.
std::vector<int> all_ranks(int members);

struct ElementRange {
  std::size_t begin = 0;
  std::size_t count = 0;
};
/// Part `part` of `parts` nearly equal ones, with boundaries between cache lines.
ElementRange part_of(std::size_t elements, std::size_t parts, std::size_t part);

}  // namespace bench
