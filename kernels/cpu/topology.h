#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// One hardware thread that this process may use.
struct Processor {
  int id = 0;         ///< The operating system's number, as in an affinity mask.
  int package = 0;    ///< Socket, counted from 0.
  int numa_node = 0;  ///< The operating system's number of the nearest memory.
  int core = 0;       ///< Physical core, counted from 0 over the whole machine.
  int sibling = 0;    ///< 0 for the first usable hardware thread of its core, then 1, ...

  bool operator==(const Processor&) const = default;
};

/// The processors this process may use, ordered by package, NUMA node, core and hardware thread.
struct Topology {
  std::vector<Processor> processors;
};

/// This machine as hwloc reports it, restricted by the calling thread's affinity mask and its
/// control group's cpuset. Searches only for processors and memory, not for devices. Throws
/// DeviceError if hwloc fails or nothing remains.
Topology discover_topology();

/// A machine from hwloc's synthetic description, such as "pack:2 core:4 pu:2", restricted to the
/// processors in `allowed` if given. Throws UsageError for a description that hwloc refuses.
Topology synthetic_topology(const std::string& description,
                            std::optional<std::span<const int>> allowed = std::nullopt);

/// A level of data caches.
struct CacheLevel {
  int level = 1;
  std::size_t bytes = 0;  ///< All caches of this level together.
  std::size_t share =
      0;  ///< The part of `bytes` for these processors' cores, if all cores are busy.

  bool operator==(const CacheLevel&) const = default;
};

/// The caches of these processors (their `id`), the nearest level first; empty if this machine does
/// not report them. Throws DeviceError if hwloc fails.
std::vector<CacheLevel> discover_caches(std::span<const int> processors);
/// The same for a machine from hwloc's synthetic description.
std::vector<CacheLevel> synthetic_caches(const std::string& description,
                                         std::span<const int> processors);

/// The processors (their `id`) on which to place threads, one each:
/// - without `wanted`, one hardware thread of every physical core, in the topology's order;
/// - with `wanted`, that many; the first hardware threads of the cores come first, then the second
///   ones.
///
/// Throws UsageError if `wanted` is less than 1 or more than the number of processors.
std::vector<int> choose_processors(const Topology& topology, std::optional<int> wanted);

}  // namespace bench
