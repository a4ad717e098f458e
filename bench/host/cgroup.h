#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/host/system_files.h"
#include "results/conditions.h"

namespace bench {

/// One of the nested control groups this process is in.
struct CgroupLevel {
  int version = 2;       ///< 1 or 2: which files the folder holds.
  std::string folder{};  ///< As an absolute path.
};

/// The folders that hold `controller`'s files ("memory", "cpu", "cpuset") for this process, in each
/// hierarchy from its own group up to the mounted root, as /proc/self/cgroup and
/// /proc/self/mountinfo tell. Where a container hides the process's own group, the mounted root
/// stands for it. Empty without control groups.
std::vector<CgroupLevel> cgroup_levels(const SystemFiles& files, std::string_view controller);

/// How much processor time a control group grants.
struct CpuQuota {
  double processors = 0;  ///< Quota over period: 1.5 is one and a half processors' worth of time.
  std::string file{};     ///< Which file says so.
};

/// The smallest quota of all levels; none when time is not limited.
std::optional<CpuQuota> cgroup_cpu_quota(const SystemFiles& files);

/// How often and for how long the control group has stopped its processes for their quota, since it
/// was made; the level with the smallest quota, else the innermost.
results::Throttling cgroup_throttling(const SystemFiles& files);

/// Between two of these.
results::Throttling throttled_between(const results::Throttling& before,
                                      const results::Throttling& after);

/// Processors this process's group may use, as the kernel's list, or why that is not known.
Captured<std::string> cgroup_cpuset(const SystemFiles& files);

/// A limit on memory and what of it is in use.
struct CgroupMemory {
  std::int64_t limit_bytes = 0;
  std::int64_t used_bytes = 0;  ///< Without the file cache, which the kernel gives back on demand.
  std::string file{};           ///< Which file sets the limit.
};

/// The memory limits of all levels (memory.max and memory.high; memory.limit_in_bytes in version
/// 1), those that limit nothing left out.
std::vector<CgroupMemory> cgroup_memory_limits(const SystemFiles& files);

}  // namespace bench
