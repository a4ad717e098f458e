#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/topology.h"

namespace bench {

/// The processors that CPU towers request.
struct ShareRequest {
  int towers = 1;
  /// Threads of each tower; nullopt: one thread per core, with the cores divided among the towers.
  std::optional<int> threads = {};
  /// Each tower stays within one NUMA node.
  bool within_nodes = false;
  /// The flag that requested the towers, for error messages; empty: --num_gpus.
  std::string asked = {};
};

/// The processors of one tower.
struct ProcessorShare {
  std::vector<int> processors;
  /// The node of all its processors, if the request was `within_nodes`.
  std::optional<int> numa_node;
};

/// The number of threads each tower gets if there are enough processors.
int threads_per_tower(const Topology& topology, const ShareRequest& request);

/// Returns the processor numbers of each tower; all towers have the same number. Each tower gets a
/// separate set of cores while there are enough, in the order of the machine's memory and caches.
/// With `within_nodes`, distributes towers over the nodes in proportion to their processors. Throws
/// UsageError if there are too few.
std::vector<ProcessorShare> share_processors(const Topology& topology, const ShareRequest& request);

/// The processors on which threads prepare images while towers use `taken`. Returns the processors
/// of `all` that no tower has, or `all` if fewer than `at_least` remain.
std::vector<int> processors_to_decode_on(std::vector<int> all,
                                         const std::vector<std::vector<int>>& taken,
                                         std::size_t at_least);

/// The NUMA nodes of the topology's processors, in its order.
std::vector<int> numa_nodes_of(const Topology& topology);

/// How many threads can use a control group's quota, in processors, at the same time: at least 1,
/// at most the number of processors.
int threads_within_quota(double quota, std::size_t processors);

}  // namespace bench
