#include "bench/plan/processor_shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>

#include "models/base/errors.h"

namespace bench {
namespace {

/// A set of processors that must hold whole towers: a NUMA node, or the machine.
struct Room {
  Topology topology;
  std::size_t cores = 0;
  std::size_t usable = 0;
};

Room room_of(Topology topology) {
  Room room{.topology = std::move(topology)};
  room.cores = choose_processors(room.topology, std::nullopt).size();
  room.usable = room.topology.processors.size();
  return room;
}

std::vector<Room> rooms_of(const Topology& topology, bool within_nodes) {
  if (!within_nodes) {
    return {room_of(topology)};
  }
  std::vector<Room> rooms;
  for (const int node : numa_nodes_of(topology)) {
    Topology part;
    std::copy_if(topology.processors.begin(), topology.processors.end(),
                 std::back_inserter(part.processors),
                 [node](const Processor& each) { return each.numa_node == node; });
    rooms.push_back(room_of(std::move(part)));
  }
  return rooms;
}

/// The number of towers with `threads` threads that fit, if each part has `size` places for
/// threads.
std::size_t towers_in(const std::vector<Room>& rooms, std::size_t Room::*size,
                      std::size_t threads) {
  return std::accumulate(
      rooms.begin(), rooms.end(), std::size_t{0},
      [&](std::size_t sum, const Room& room) { return sum + room.*size / threads; });
}

std::size_t threads_in(const std::vector<Room>& rooms, const ShareRequest& request) {
  if (request.threads) {
    return static_cast<std::size_t>(*request.threads);
  }
  std::size_t threads = 1;
  while (towers_in(rooms, &Room::cores, threads + 1) >= static_cast<std::size_t>(request.towers)) {
    ++threads;
  }
  return threads;
}

[[noreturn]] void refuse(const std::vector<Room>& rooms, const ShareRequest& request,
                         std::size_t threads) {
  std::string asked =
      request.asked.empty() ? fmt::format("--num_gpus={}", request.towers) : request.asked;
  if (request.threads) {
    asked += fmt::format(" --num_intra_threads={}", threads);
  }
  std::string counts;
  for (const Room& room : rooms) {
    counts += counts.empty() ? "" : " and ";
    counts += std::to_string(room.usable);
  }
  const std::string usable = counts == "1" ? "1 processor" : fmt::format("{} processors", counts);
  const std::string needed = request.threads ? std::to_string(threads) : "at least one";
  throw UsageError(
      request.within_nodes
          ? fmt::format(
                "{} --use_numa_affinity: this process may use {} on its NUMA nodes, but each "
                "device needs {} on one node",
                asked, usable, needed)
          : fmt::format("{}: this process may use {}, but each device needs {}", asked, usable,
                        needed));
}

/// The number of towers in each part. Assigns each tower to the part with the most remaining
/// places.
std::vector<std::size_t> towers_of_rooms(const std::vector<Room>& rooms, std::size_t towers,
                                         std::size_t threads) {
  std::size_t Room::*const size =
      towers_in(rooms, &Room::cores, threads) >= towers ? &Room::cores : &Room::usable;
  std::vector<std::size_t> left(rooms.size());
  std::transform(rooms.begin(), rooms.end(), left.begin(), std::mem_fn(size));
  std::vector<std::size_t> counts(rooms.size());
  for (std::size_t tower = 0; tower < towers; ++tower) {
    const auto most = std::max_element(left.begin(), left.end());
    *most -= threads;
    ++counts[static_cast<std::size_t>(most - left.begin())];
  }
  return counts;
}

/// Cuts the processors into `count` parts of whole cores, as equal as possible.
std::vector<Topology> parts_of_cores(const Topology& room, std::size_t cores, std::size_t count) {
  std::vector<Topology> parts(count);
  std::size_t core = 0;
  for (std::size_t i = 0; i < room.processors.size(); ++i) {
    const Processor& processor = room.processors[i];
    core += i > 0 && processor.core != room.processors[i - 1].core ? 1 : 0;
    // Part p begins with core p * cores / count, rounded down.
    parts[((core + 1) * count - 1) / cores].processors.push_back(processor);
  }
  return parts;
}

/// Assigns processors to the towers of one part. If there are enough cores, towers do not share
/// them, and so do not share their hardware threads and caches. Otherwise assigns processors in
/// order.
std::vector<std::vector<int>> divide(const Room& room, std::size_t towers, std::size_t threads) {
  std::vector<std::vector<int>> divided;
  if (room.cores >= towers) {
    const std::vector<Topology> parts = parts_of_cores(room.topology, room.cores, towers);
    if (std::all_of(parts.begin(), parts.end(), [threads](const Topology& part) {
          return part.processors.size() >= threads;
        })) {
      for (const Topology& part : parts) {
        divided.push_back(choose_processors(part, static_cast<int>(threads)));
      }
      return divided;
    }
  }
  const std::vector<int> all = choose_processors(room.topology, static_cast<int>(threads * towers));
  for (std::size_t tower = 0; tower < towers; ++tower) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(tower * threads);
    divided.emplace_back(first, first + static_cast<std::ptrdiff_t>(threads));
  }
  return divided;
}

}  // namespace

std::vector<int> numa_nodes_of(const Topology& topology) {
  std::vector<int> nodes;
  for (const Processor& each : topology.processors) {
    if (std::find(nodes.begin(), nodes.end(), each.numa_node) == nodes.end()) {
      nodes.push_back(each.numa_node);
    }
  }
  return nodes;
}

int threads_per_tower(const Topology& topology, const ShareRequest& request) {
  return static_cast<int>(threads_in(rooms_of(topology, request.within_nodes), request));
}

std::vector<ProcessorShare> share_processors(const Topology& topology,
                                             const ShareRequest& request) {
  const std::vector<Room> rooms = rooms_of(topology, request.within_nodes);
  const std::size_t threads = threads_in(rooms, request);
  const auto towers = static_cast<std::size_t>(request.towers);
  if (towers_in(rooms, &Room::usable, threads) < towers) {
    refuse(rooms, request, threads);
  }
  const std::vector<std::size_t> counts = towers_of_rooms(rooms, towers, threads);
  std::vector<ProcessorShare> shares;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (counts[i] == 0) {
      continue;
    }
    for (std::vector<int>& processors : divide(rooms[i], counts[i], threads)) {
      ProcessorShare& share = shares.emplace_back();
      share.processors = std::move(processors);
      if (request.within_nodes) {
        share.numa_node = rooms[i].topology.processors.front().numa_node;
      }
    }
  }
  return shares;
}

std::vector<int> processors_to_decode_on(std::vector<int> all,
                                         const std::vector<std::vector<int>>& taken,
                                         std::size_t at_least) {
  std::vector<int> left;
  std::copy_if(all.begin(), all.end(), std::back_inserter(left), [&](int processor) {
    return std::none_of(taken.begin(), taken.end(), [processor](const std::vector<int>& tower) {
      return std::find(tower.begin(), tower.end(), processor) != tower.end();
    });
  });
  return left.empty() || left.size() < at_least ? all : left;
}

int threads_within_quota(double quota, std::size_t processors) {
  return static_cast<int>(std::clamp(std::ceil(quota), 1.0, static_cast<double>(processors)));
}

}  // namespace bench
