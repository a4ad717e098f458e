#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/environment/system_files.h"
#include "results/record/conditions.h"

namespace bench {

/// One of the nested control groups that contain this process.
struct CgroupLevel {
  int version = 2;       ///< 1 or 2; determines the names of the files.
  std::string folder{};  ///< An absolute path.
};

/// Finds the folders with the files of `controller` ("memory", "cpu", "cpuset") for this process.
/// In each hierarchy it goes from the process's own group up to the mounted root, according to
/// /proc/self/cgroup and /proc/self/mountinfo. If a container hides the process's own group, the
/// mounted root replaces it. Empty without control groups.
std::vector<CgroupLevel> cgroup_levels(const SystemFiles& files, std::string_view controller);

/// The processor time that a control group grants.
struct CpuQuota {
  double processors = 0;  ///< Quota over period: 1.5 means the time of one and a half processors.
  std::string file{};     ///< The file that sets it.
};

/// The smallest quota of all levels; nullopt if time is not limited.
std::optional<CpuQuota> cgroup_cpu_quota(const SystemFiles& files);

/// How often, and for how long, the quota has stopped the group's processes since its creation.
/// Uses the level with the smallest quota, else the innermost level.
results::Throttling cgroup_throttling(const SystemFiles& files);

/// The throttling between two readings.
results::Throttling throttled_between(const results::Throttling& before,
                                      const results::Throttling& after);

/// The processors that this process's group may use, as the kernel's list, or why they are unknown.
Captured<std::string> cgroup_cpuset(const SystemFiles& files);

/// A limit on memory, and the memory in use.
struct CgroupMemory {
  std::int64_t limit_bytes = 0;
  std::int64_t used_bytes = 0;  ///< Without the file cache, which the kernel reclaims on demand.
  std::string file{};           ///< The file that sets the limit.
};

/// The memory limits of all levels: memory.max and memory.high, or memory.limit_in_bytes in version
/// 1. Omits levels without a limit.
std::vector<CgroupMemory> cgroup_memory_limits(const SystemFiles& files);

}  // namespace bench
