#include "variable_mgmt/collectives/topology.h"

#include <array>

#include "models/base/errors.h"

namespace bench {

Leaders hierarchical_leaders(std::string_view topology, int devices, std::size_t index) {
  if (devices < 2 || devices % 2 != 0) {
    throw UsageError(cat("--hierarchical_copy halves the devices; ", devices,
                         " were given, accepted is an even number from 2 on"));
  }
  if (topology == "dgx1") {
    const auto turn = static_cast<int>(index % static_cast<std::size_t>(devices));
    return {.first = turn, .second = (turn + devices / 2) % devices};
  }
  if (topology != "gcp_v100") {
    throw UsageError(cat("--network_topology=", topology, ": accepted is dgx1 or gcp_v100"));
  }
  // Each pair has a direct link in that topology.
  constexpr std::array<Leaders, 4> kPairs = {{{.first = 0, .second = 5},
                                              {.first = 2, .second = 7},
                                              {.first = 5, .second = 0},
                                              {.first = 7, .second = 2}}};
  constexpr int kDevices = 8;
  if (devices != kDevices) {
    throw UsageError(
        cat("--network_topology=gcp_v100 is of ", kDevices, " devices; ", devices, " were given"));
  }
  return kPairs[index % kPairs.size()];
}

std::vector<std::vector<int>> group_devices(int devices, int group_size) {
  if (group_size < 1 || group_size > devices) {
    throw UsageError(cat("all-reduce: ", group_size,
                         " shards are asked for, and accepted are 1 to ", devices,
                         ", the number of devices that add"));
  }
  const int groups = (devices + group_size - 1) / group_size;
  std::vector<std::vector<int>> grouped(static_cast<std::size_t>(groups));
  for (int i = 0; i < groups * group_size; ++i) {
    grouped[static_cast<std::size_t>(i % groups)].push_back(i % devices);
  }
  return grouped;
}

}  // namespace bench
