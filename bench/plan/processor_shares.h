#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/topology.h"

namespace bench {

/// What towers of the CPU ask of the processors.
struct ShareRequest {
  int towers = 1;
  /// Of each tower; none: the cores are divided, a thread each.
  std::optional<int> threads = {};
  /// Each tower's processors are of one NUMA node.
  bool within_nodes = false;
  /// The flag that asked for the towers, for a refusal; empty: --num_gpus.
  std::string asked = {};
};

/// What one tower gets.
struct ProcessorShare {
  std::vector<int> processors;
  /// Of all of them, where they were to be of one.
  std::optional<int> numa_node;
};

/// How many threads each tower gets where there are enough processors.
int threads_per_tower(const Topology& topology, const ShareRequest& request);

/// The towers' processors, by their numbers: each has as many. In the order of the machine's memory
/// and caches each has a part of the cores, and no other a hardware thread there, while there are
/// enough. Within nodes they are spread over all of them, as evenly as these have processors.
/// Throws UsageError where there are too few.
std::vector<ProcessorShare> share_processors(const Topology& topology, const ShareRequest& request);

/// Where threads prepare images beside towers that have these processors: on those of `all` that
/// none has, where that leaves at least so many; else on all.
std::vector<int> processors_to_decode_on(std::vector<int> all,
                                         const std::vector<std::vector<int>>& taken,
                                         std::size_t at_least);

/// The NUMA nodes that processors of the topology are of, in its order.
std::vector<int> numa_nodes_of(const Topology& topology);

}  // namespace bench
