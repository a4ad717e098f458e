#include "kernels/cpu/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>

#include "models/base/errors.h"

namespace bench {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

[[noreturn]] void fail(const char* call) {
  throw DeviceError(fmt::format("{} failed: {}", call, std::strerror(errno)));
}

/// A topology that does not search for devices: buses and accelerators can take seconds to answer.
/// It does not load hwloc's plug-ins either. They are for devices and XML, and load further
/// drivers.
TopologyHandle make_topology() {
  hwloc_topology_t raw = nullptr;
  setenv("HWLOC_PLUGINS_PATH", "", /*overwrite=*/0);
  if (hwloc_topology_init(&raw) != 0) fail("hwloc_topology_init");
  TopologyHandle topology(raw);
  if (hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE) != 0 ||
      hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE) != 0) {
    fail("hwloc_topology_set_type_filter");
  }
  return topology;
}

TopologyHandle this_machine() {
  TopologyHandle topology = make_topology();
  if (hwloc_topology_load(topology.get()) != 0) fail("hwloc_topology_load");
  return topology;
}

TopologyHandle synthetic_machine(const std::string& description) {
  TopologyHandle topology = make_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw UsageError(fmt::format(
        "hwloc cannot build a topology from '{}'; an accepted example is 'pack:2 core:4 pu:2'",
        description));
  }
  return topology;
}

int package_of(hwloc_topology* topology, hwloc_obj_t processor) {
  const auto* package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, processor);
  return package != nullptr ? static_cast<int>(package->logical_index) : 0;
}

/// The core, or the processor itself if the machine does not report cores.
int core_of(hwloc_topology* topology, hwloc_obj_t processor) {
  const auto* core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, processor);
  return static_cast<int>(core != nullptr ? core->logical_index : processor->logical_index);
}

Topology usable_processors(hwloc_topology* topology, hwloc_const_bitmap_t allowed) {
  Topology out;
  hwloc_obj_t processor = nullptr;
  while ((processor = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, processor)) != nullptr) {
    if (hwloc_bitmap_isset(allowed, processor->os_index) == 0) continue;
    const int node = hwloc_bitmap_first(processor->nodeset);
    out.processors.push_back({.id = static_cast<int>(processor->os_index),
                              .package = package_of(topology, processor),
                              .numa_node = std::max(node, 0),
                              .core = core_of(topology, processor)});
  }
  std::stable_sort(
      out.processors.begin(), out.processors.end(), [](const Processor& a, const Processor& b) {
        return std::tie(a.package, a.numa_node, a.core) < std::tie(b.package, b.numa_node, b.core);
      });
  std::map<int, int> seen;
  for (Processor& each : out.processors) each.sibling = seen[each.core]++;
  return out;
}

Bitmap new_bitmap() {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (!bitmap) fail("hwloc_bitmap_alloc");
  return bitmap;
}

/// The fraction of a cache's cores that have one of these processors.
double share_of_cores(hwloc_topology* topology, hwloc_obj_t cache, hwloc_const_bitmap_t set) {
  int all = 0;
  int own = 0;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_inside_cpuset_by_type(topology, cache->cpuset, HWLOC_OBJ_CORE,
                                                          core)) != nullptr) {
    ++all;
    own += hwloc_bitmap_intersects(core->cpuset, set) != 0 ? 1 : 0;
  }
  return all == 0 ? 1 : static_cast<double>(own) / all;
}

std::vector<CacheLevel> caches_of(hwloc_topology* topology, std::span<const int> processors) {
  const Bitmap set = new_bitmap();
  for (const int id : processors) {
    if (hwloc_bitmap_set(set.get(), static_cast<unsigned>(id)) != 0) fail("hwloc_bitmap_set");
  }
  std::vector<CacheLevel> out;
  constexpr std::array kTypes{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                              HWLOC_OBJ_L4CACHE};
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    CacheLevel level{.level = static_cast<int>(i) + 1};
    hwloc_obj_t cache = nullptr;
    while ((cache = hwloc_get_next_obj_by_type(topology, kTypes.at(i), cache)) != nullptr) {
      if (hwloc_bitmap_intersects(cache->cpuset, set.get()) != 0) {
        const std::size_t bytes = cache->attr->cache.size;
        level.bytes += bytes;
        level.share += static_cast<std::size_t>(share_of_cores(topology, cache, set.get()) *
                                                static_cast<double>(bytes));
      }
    }
    if (level.bytes > 0) out.push_back(level);
  }
  return out;
}

}  // namespace

Topology discover_topology() {
  const TopologyHandle topology = this_machine();
  const Bitmap allowed = new_bitmap();
  if (hwloc_get_cpubind(topology.get(), allowed.get(), HWLOC_CPUBIND_THREAD) != 0) {
    // On systems without this information, only the control group's limit is known.
    hwloc_bitmap_fill(allowed.get());
  }
  hwloc_bitmap_and(allowed.get(), allowed.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  Topology out = usable_processors(topology.get(), allowed.get());
  if (out.processors.empty()) {
    throw DeviceError("hwloc finds no processor that this process may use");
  }
  return out;
}

Topology synthetic_topology(const std::string& description,
                            std::optional<std::span<const int>> allowed) {
  const TopologyHandle topology = synthetic_machine(description);
  const Bitmap set = new_bitmap();
  if (!allowed) {
    hwloc_bitmap_fill(set.get());
  } else {
    for (const int id : *allowed) {
      check(id >= 0, "topology: a processor number is negative");
      if (hwloc_bitmap_set(set.get(), static_cast<unsigned>(id)) != 0) fail("hwloc_bitmap_set");
    }
  }
  return usable_processors(topology.get(), set.get());
}

std::vector<CacheLevel> discover_caches(std::span<const int> processors) {
  return caches_of(this_machine().get(), processors);
}

std::vector<CacheLevel> synthetic_caches(const std::string& description,
                                         std::span<const int> processors) {
  return caches_of(synthetic_machine(description).get(), processors);
}

std::vector<int> choose_processors(const Topology& topology, std::optional<int> wanted) {
  std::vector<Processor> order = topology.processors;
  // Stable: first, second, ... hardware threads stay in the topology's order of cores.
  std::stable_sort(order.begin(), order.end(),
                   [](const Processor& a, const Processor& b) { return a.sibling < b.sibling; });
  const auto cores = static_cast<int>(std::count_if(
      order.begin(), order.end(), [](const Processor& each) { return each.sibling == 0; }));
  const int count = wanted.value_or(cores);
  const auto most = static_cast<int>(order.size());
  if (count < 1 || count > most) {
    throw UsageError(fmt::format(
        "{} threads were requested; this process may use 1 to {} processors ({} physical cores)",
        count, most, cores));
  }
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(order[static_cast<std::size_t>(i)].id);
  return out;
}

}  // namespace bench
