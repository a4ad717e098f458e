// Algorithms in which a member reads the elements of all members, or of one half.
#include <algorithm>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/schedules.h"
#include "variable_mgmt/collectives/topology.h"

namespace bench {
namespace {

/// Owner j adds part j of all members; then all copy the other parts.
Schedule plan_gather(const ScheduleRequest& request, const std::vector<int>& owners) {
  const std::vector<int> everyone = all_ranks(request.members);
  Schedule schedule(everyone.size());
  // The partition follows the original: equal parts, and the last also takes the remainder.
  const std::size_t part = request.elements / owners.size();
  const auto range = [&](std::size_t j) {
    const std::size_t begin = j * part;
    return ElementRange{.begin = begin,
                        .count = j + 1 < owners.size() ? part : request.elements - begin};
  };
  // How many steps each owner has done once its part is added; an owner may have several parts.
  std::vector<std::size_t> added;
  for (std::size_t j = 0; j < owners.size(); ++j) {
    auto& steps = schedule[static_cast<std::size_t>(owners[j])];
    steps.push_back({.begin = range(j).begin,
                     .count = range(j).count,
                     .sources = everyone,
                     .targets = {owners[j]}});
    added.push_back(steps.size());
  }
  for (const int rank : everyone) {
    for (std::size_t j = 0; j < owners.size(); ++j) {
      if (owners[j] != rank) {
        schedule[static_cast<std::size_t>(rank)].push_back(
            {.begin = range(j).begin,
             .count = range(j).count,
             .sources = {owners[j]},
             .targets = {rank},
             .after = {{.rank = owners[j], .steps = added[j]}}});
      }
    }
  }
  return schedule;
}

Schedule plan_hierarchical(const ScheduleRequest& request, std::string_view topology) {
  const Leaders leaders = hierarchical_leaders(topology, request.members, request.index);
  const int half = request.members / 2;
  Schedule schedule(static_cast<std::size_t>(request.members));
  const auto steps = [&](int rank) -> auto& { return schedule[static_cast<std::size_t>(rank)]; };
  const auto step = [&](std::vector<int> sources, int target,
                        std::vector<ReduceStep::After> after) {
    steps(target).push_back({.begin = 0,
                             .count = request.elements,
                             .sources = std::move(sources),
                             .targets = {target},
                             .after = std::move(after)});
  };
  const auto half_of = [&](int rank) {
    std::vector<int> ranks = all_ranks(half);
    std::transform(ranks.begin(), ranks.end(), ranks.begin(),
                   [&](int each) { return each + (rank < half ? 0 : half); });
    return ranks;
  };
  step(half_of(leaders.first), leaders.first, {});
  step(half_of(leaders.second), leaders.second, {});
  step({leaders.first, leaders.second}, leaders.first, {{.rank = leaders.second, .steps = 1}});
  step({leaders.first}, leaders.second, {{.rank = leaders.first, .steps = 2}});
  for (const int leader : {leaders.first, leaders.second}) {
    for (const int rank : half_of(leader)) {
      if (rank != leader) {
        step({leader}, rank, {{.rank = leader, .steps = 2}});
      }
    }
  }
  return schedule;
}

}  // namespace

Schedule plan_shm(const ScheduleRequest& request) {
  const std::vector<int> everyone = all_ranks(request.members);
  Schedule schedule;
  for (std::size_t rank = 0; rank < everyone.size(); ++rank) {
    const ElementRange slice = part_of(request.elements, everyone.size(), rank);
    schedule.push_back(
        {{.begin = slice.begin, .count = slice.count, .sources = everyone, .targets = everyone}});
  }
  return schedule;
}

Schedule plan_pscpu(const ScheduleRequest& request) {
  if (request.range.shards != 1) {
    throw UsageError(
        fmt::format("all-reduce {}: pscpu's shards are hosts and there is only one; use psgpu#{} "
                    "to spread the work over the host's devices",
                    name_of(request.range), request.range.shards));
  }
  return plan_gather(request, {0});
}

Schedule plan_psgpu(const ScheduleRequest& request) {
  const auto groups = group_devices(request.members, request.range.shards);
  return plan_gather(request, groups[request.index % groups.size()]);
}

Schedule plan_dgx1(const ScheduleRequest& request) { return plan_hierarchical(request, "dgx1"); }

Schedule plan_gcp_v100(const ScheduleRequest& request) {
  return plan_hierarchical(request, "gcp_v100");
}

}  // namespace bench
