#include "bench/memory_limit.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "bench/cgroup.h"

namespace bench {

Captured<MemoryLimit> memory_limit(const SystemFiles& files) {
  std::optional<MemoryLimit> smallest;
  const auto consider = [&smallest](std::int64_t bytes, const std::string& set_by) {
    if (!smallest || bytes < smallest->bytes) {
      smallest = {.bytes = std::max<std::int64_t>(bytes, 0), .set_by = set_by};
    }
  };
  const Captured<std::string> meminfo = files.read("/proc/meminfo");
  const Captured<std::string> available = field_of(meminfo.value_or(""), "MemAvailable");
  if (available.known()) {  // "1234 kB"
    const std::vector<std::string> words = words_of(available.value());
    const Captured<std::int64_t> kibibytes = parse_integer(words.empty() ? "" : words.front());
    if (kibibytes.known()) consider(kibibytes.value() * 1024, "/proc/meminfo (MemAvailable)");
  }
  for (const CgroupMemory& group : cgroup_memory_limits(files)) {
    consider(group.limit_bytes - group.used_bytes, group.file);
  }
  if (!smallest) {
    return Unknown{meminfo.known() ? "/proc/meminfo tells no MemAvailable" : meminfo.why()};
  }
  return *smallest;
}

}  // namespace bench
