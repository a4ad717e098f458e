#include "variable_mgmt/servers/protocol.h"

#include <algorithm>
#include <type_traits>

namespace bench {

static_assert(std::has_unique_object_representations_v<ServedSegment>);
static_assert(std::is_trivially_copyable_v<ServerRequest> && sizeof(ServerRequest) == 64);

std::vector<std::vector<OptimizerSegment>> divide_among_servers(
    std::span<const OptimizerSegment> segments, int servers) {
  std::vector<std::vector<OptimizerSegment>> parts(static_cast<std::size_t>(servers));
  std::vector<std::size_t> elements(parts.size());
  for (const OptimizerSegment& segment : segments) {
    const auto least = std::min_element(elements.begin(), elements.end());
    *least += segment.count;
    parts[static_cast<std::size_t>(least - elements.begin())].push_back(segment);
  }
  return parts;
}

std::size_t count_elements(std::span<const OptimizerSegment> segments) {
  std::size_t elements = 0;
  for (const OptimizerSegment& segment : segments) {
    elements += segment.count;
  }
  return elements;
}

}  // namespace bench
