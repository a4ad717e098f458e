#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// The leaders of a hierarchical reduction: `first` adds its half and then both halves, `second`
/// adds the other half.
struct Leaders {
  int first = 0;
  int second = 0;
  bool operator==(const Leaders&) const = default;
};

/// The leaders for the tensor of that index, for --network_topology=dgx1 or gcp_v100. Devices
/// 0..devices/2-1 are one half. Throws UsageError for fewer than two devices, an odd number, or a
/// topology made for another number.
Leaders hierarchical_leaders(std::string_view topology, int devices, std::size_t index);

/// Deals devices 0..devices-1 in turn to ceil(devices / group_size) groups of `group_size`: 8 in
/// groups of 4 are {0, 2, 4, 6} and {1, 3, 5, 7}. If they do not suffice, the first ones are in two
/// groups. Throws UsageError if a group is larger than the number of devices.
std::vector<std::vector<int>> group_devices(int devices, int group_size);

}  // namespace bench
