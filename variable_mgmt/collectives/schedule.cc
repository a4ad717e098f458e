#include "variable_mgmt/collectives/schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/schedules.h"

namespace bench {
namespace {

struct ScheduleRow {
  std::string_view name;
  Schedule (*plan)(const ScheduleRequest& request);
  bool elementwise;
};

constexpr std::array<ScheduleRow, 9> kRows = {{
    {"shm", plan_shm, true},
    {"xring", plan_xring, false},
    {"pscpu", plan_pscpu, true},
    {"psgpu", plan_psgpu, true},
    {"rechd", plan_rechd, false},
    {"tree", plan_tree, true},
    {"collective", plan_xring, false},
    {"hierarchical/dgx1", plan_dgx1, true},
    {"hierarchical/gcp_v100", plan_gcp_v100, true},
}};

const ScheduleRow& find_row(const std::string& name) {
  const auto* const found = std::find_if(
      kRows.begin(), kRows.end(), [&name](const ScheduleRow& row) { return row.name == name; });
  if (found == kRows.end()) {
    throw UsageError(
        fmt::format("all-reduce {}: not an algorithm for devices that share one host; accepted: {}",
                    name, describe_algorithms({.nccl = false, .timed = false})));
  }
  return *found;
}

}  // namespace

std::vector<int> all_ranks(int members) {
  std::vector<int> ranks(static_cast<std::size_t>(members));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

ElementRange part_of(std::size_t elements, std::size_t parts, std::size_t part) {
  constexpr std::size_t kGrain = 32;  // One or two cache lines, depending on the type.
  const std::size_t grains = (elements + kGrain - 1) / kGrain;
  const auto bound = [&](std::size_t index) {
    return std::min(grains * index / parts * kGrain, elements);
  };
  return {.begin = bound(part), .count = bound(part + 1) - bound(part)};
}

Schedule plan_schedule(const ScheduleRequest& request) {
  check(request.members >= 1, "all-reduce: there must be at least one member");
  const ScheduleRow& row = find_row(request.range.algorithm);
  if (request.members == 1) {
    return Schedule(1);
  }
  return row.plan(request);
}

bool is_elementwise(const AllReduceRange& range) { return find_row(range.algorithm).elementwise; }

std::vector<std::string> host_algorithms() {
  std::vector<std::string> names;
  for (const auto* row = kRows.begin(); row != kRows.end(); ++row) {
    const bool is_new = std::none_of(
        kRows.begin(), row, [&](const ScheduleRow& earlier) { return earlier.plan == row->plan; });
    if (is_new && !row->name.starts_with("hierarchical/")) {
      names.emplace_back(row->name);
    }
  }
  return names;
}

}  // namespace bench
