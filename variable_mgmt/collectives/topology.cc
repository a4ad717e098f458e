#include "variable_mgmt/collectives/topology.h"

#include <array>

#include "models/base/errors.h"

namespace bench {

Leaders hierarchical_leaders(std::string_view topology, int devices, std::size_t index) {
  if (devices < 2 || devices % 2 != 0) {
    throw UsageError(fmt::format(
        "--hierarchical_copy: {} devices were given; accepted: an even number, at least 2",
        devices));
  }
  if (topology == "dgx1") {
    const auto turn = static_cast<int>(index % static_cast<std::size_t>(devices));
    return {.first = turn, .second = (turn + devices / 2) % devices};
  }
  if (topology != "gcp_v100") {
    throw UsageError(fmt::format("--network_topology={}: accepted: dgx1 or gcp_v100", topology));
  }
  // Each pair has a direct link in that topology.
  constexpr std::array<Leaders, 4> kPairs = {{{.first = 0, .second = 5},
                                              {.first = 2, .second = 7},
                                              {.first = 5, .second = 0},
                                              {.first = 7, .second = 2}}};
  constexpr int kDevices = 8;
  if (devices != kDevices) {
    throw UsageError(fmt::format("--network_topology=gcp_v100: needs {} devices; {} were given",
                                 kDevices, devices));
  }
  return kPairs[index % kPairs.size()];
}

std::vector<std::vector<int>> group_devices(int devices, int group_size) {
  if (group_size < 1 || group_size > devices) {
    throw UsageError(fmt::format(
        "all-reduce: {} shards were requested; accepted: 1 to {}, at most one per device",
        group_size, devices));
  }
  const int groups = (devices + group_size - 1) / group_size;
  std::vector<std::vector<int>> grouped(static_cast<std::size_t>(groups));
  for (int i = 0; i < groups * group_size; ++i) {
    grouped[static_cast<std::size_t>(i % groups)].push_back(i % devices);
  }
  return grouped;
}

}  // namespace bench
