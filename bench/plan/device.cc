#include "bench/plan/device.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "bench/plan/processor_shares.h"
#include "kernels/cpu/cpu_isa.h"
#include "kernels/cpu/library_variables.h"
#include "kernels/cpu/topology.h"
#include "kernels/gpu_provider.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

/// The arguments that make a tower's device.
struct TowerPlace {
  int tower = 0;
  Topology topology = {};
};

/// Returns one processor for each thread of the run, limited by OMP_THREAD_LIMIT.
std::vector<int> within_limit(Device& device, std::vector<int> processors,
                              std::optional<int> wanted) {
  const auto most = static_cast<std::size_t>(onednn_most_threads());
  if (processors.size() <= most) {
    return processors;
  }
  if (wanted) {
    throw UsageError(fmt::format(
        "--num_intra_threads={}: OMP_THREAD_LIMIT allows {}; unset it or request at most {}",
        *wanted, most, most));
  }
  device.notices.push_back(
      fmt::format("OMP_THREAD_LIMIT allows {} of {} threads; unset it to use all of them", most,
                  processors.size()));
  processors.resize(most);
  return processors;
}

std::vector<int> run_processors(Device& device, const Topology& topology,
                                std::optional<int> wanted) {
  if (wanted && static_cast<std::size_t>(*wanted) > topology.processors.size()) {
    throw UsageError(
        fmt::format("--num_intra_threads={}: this process may use 1 to {} processors; 0 means one "
                    "thread per core",
                    *wanted, topology.processors.size()));
  }
  return within_limit(device, choose_processors(topology, wanted), wanted);
}

void note_inherited_threads(Device& device) {
  const char* inherited = std::getenv("OMP_NUM_THREADS");
  if (inherited != nullptr && std::to_string(device.processors.size()) != inherited) {
    device.notices.push_back(
        fmt::format("OMP_NUM_THREADS={} has no effect: the number of threads is {}; "
                    "--num_intra_threads sets it",
                    inherited, device.processors.size()));
  }
}

/// The flag that asked for the towers, as the user wrote it.
std::string towers_asked(const RunSettings& settings) {
  std::string counts;
  for (const int count : settings.outputs.record.device_counts) {
    counts += counts.empty() ? "" : ",";
    counts += std::to_string(count);
  }
  return counts.empty() ? fmt::format("--num_gpus={}", settings.workload.towers)
                        : fmt::format("--scaling_sweep={}", counts);
}

ShareRequest share_request(const RunSettings& settings, const Topology& topology) {
  return {.towers = settings.workload.towers,
          .threads = settings.execution.threads,
          .within_nodes = settings.execution.numa_affinity && numa_nodes_of(topology).size() > 1,
          .asked = towers_asked(settings)};
}

void check_shares(const RunSettings& settings, const Topology& topology) {
  if (settings.execution.device == RunDevice::cpu) {
    share_processors(topology, share_request(settings, topology));
  }
}

std::string threads_on_node(int tower, std::size_t threads, int node) {
  return threads == 1 ? fmt::format("tower {}: 1 thread on NUMA node {}", tower, node)
                      : fmt::format("tower {}: {} threads on NUMA node {}", tower, threads, node);
}

/// Assigns the tower's processors to the device. If required, also binds this thread's memory to
/// their NUMA node from now on.
void place_on_cpu(Device& device, const RunSettings& settings, const TowerPlace& place) {
  const ShareRequest request = share_request(settings, place.topology);
  if (settings.execution.numa_affinity && !request.within_nodes) {
    device.notices.emplace_back(
        "--use_numa_affinity has no effect: this process may use only one NUMA node");
  }
  if (settings.workload.towers == 1 && !request.within_nodes) {
    device.processors = run_processors(device, place.topology, settings.execution.threads);
    return;
  }
  ProcessorShare share =
      share_processors(place.topology, request)[static_cast<std::size_t>(place.tower)];
  device.processors = within_limit(device, std::move(share.processors), settings.execution.threads);
  if (!share.numa_node) {
    return;
  }
  device.memory = std::make_unique<cpu::MemoryOnNode>(*share.numa_node);
  const std::string& why_not = device.memory->why_not();
  const std::string where =
      threads_on_node(place.tower, device.processors.size(), *share.numa_node);
  if (why_not.empty()) {
    device.notices.push_back(fmt::format("{}, with its memory", where));
  } else {
    device.warnings.push_back(fmt::format(
        "{}; its memory is placed by first touch, because the system refuses to bind it: {}", where,
        why_not));
  }
}

/// Finds the GPUs, one per tower. Throws UsageError if there are too few.
FoundGpus find_gpus_of_towers(const RunSettings& settings) {
  FoundGpus found = find_gpus();
  found.check_any("--device=gpu");
  if (!settings.execution.gpu.virtual_towers &&
      static_cast<std::size_t>(settings.execution.gpu.first) +
              static_cast<std::size_t>(settings.workload.towers) >
          found.gpus.size()) {
    const std::string refusal = fmt::format("{}: {}", towers_asked(settings), found.how_many());
    const bool one_count = settings.outputs.record.device_counts.empty();
    throw UsageError(one_count ? fmt::format("{}; --virtual_gpus={} runs as many towers on one GPU",
                                             refusal, settings.workload.towers)
                               : refusal);
  }
  return found;
}

/// "NVIDIA H200 (compute capability 9.0, 139.8 GiB)".
std::string text_of(const GpuDescription& gpu) {
  constexpr double kGibi = 1U << 30U;
  return fmt::format("{} (compute capability {}.{}, {:.1f} GiB)", gpu.name, gpu.capability / 10,
                     gpu.capability % 10, static_cast<double>(gpu.memory_bytes) / kGibi);
}

/// Makes a backend that only plans, and adds a notice that names the card.
void plan_for_card(const std::string& card, const GpuOptions& options, Device& device) {
  GpuProvider& provider = open_gpu_provider();
  PlannedGpu planned;
  try {
    planned = provider.make_planner(card, options);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--plan_for={}: {}", printable(card), error.what()));
  }
  device.backend = std::move(planned.backend);
  device.isa = fmt::format("sm_{}", planned.gpu.capability);
  device.library_version = provider.libraries();
  device.notices.push_back(
      fmt::format("planned for {}: times are estimates for one device, at {}; nothing is measured",
                  printable(text_of(planned.gpu)), planned.speeds));
}

Device make_gpu_device(const RunSettings& settings, const TowerPlace& share) {
  const GpuSettings& asked = settings.execution.gpu;
  const GpuOptions options{.tf32 = settings.workload.tf32};
  Device device;
  // The CPU only decodes images and verifies numbers, so it gets all available processors.
  device.processors = choose_processors(share.topology, std::nullopt);
  if (asked.plan_for) {
    plan_for_card(*asked.plan_for, options, device);
    return device;
  }
  const FoundGpus found = find_gpus_of_towers(settings);
  const auto index = static_cast<std::size_t>(asked.first) +
                     static_cast<std::size_t>(asked.virtual_towers ? 0 : share.tower);
  const GpuDescription& gpu = found.gpus[index];
  device.notices = found.left_out;
  device.gpu = gpu;
  device.backend = found.provider->make_backend(index, options);
  device.isa = fmt::format("sm_{}", gpu.capability);
  device.name = fmt::format("{}, {}, {} bytes", gpu.name, device.isa, gpu.memory_bytes);
  device.driver = gpu.driver;
  device.library_version = found.provider->libraries();
  device.notices.push_back(
      fmt::format("computing on {}, with {}", text_of(gpu), found.provider->libraries()));
  return device;
}

Device make_tower_device(const RunSettings& settings, const TowerPlace& share) {
  if (settings.execution.device == RunDevice::gpu) {
    return make_gpu_device(settings, share);
  }
  Device device;
  if (settings.execution.device == RunDevice::reference) {
    device.backend = make_reference_backend();
    device.isa = "generic";
    device.library_version = "Eigen";
    device.processors = choose_processors(share.topology, 1);
    device.anywhere = true;
    return device;
  }
  place_on_cpu(device, settings, share);
  note_inherited_threads(device);
  OnednnOptions options{
      .processors = device.processors,
      // Next to decoding threads, the threads of a single device may run
      // anywhere. Threads of several devices would share a processor or leave
      // their node.
      .pin = !settings.workload.input.dataset || settings.workload.towers > 1 || device.memory,
      .max_isa = std::nullopt,
      .winograd = settings.execution.winograd};
  if (const auto cpuid = this_processor()) {
    for (std::string& costly : costly_variables(*cpuid, own_environment)) {
      device.warnings.push_back(std::move(costly));
    }
    const auto limit = isa_limit(own_environment);
    const auto cap = cap_for_hidden_amx_tiles(*cpuid);
    // Keep the user's limit if it already excludes AMX.
    if (cap && (!limit || is_poorer(cap->max_cpu_isa, *limit))) {
      options.max_isa = cap->max_cpu_isa;
      device.warnings.push_back(cap->notice);
    }
  }
  device.backend = make_onednn_backend(options);
  device.isa = onednn_isa();
  device.library_version = onednn_version();
  return device;
}

}  // namespace

void drop_backends(std::span<Device> devices, TowerThreads& threads) {
  threads.run([&](int tower) {
    if (static_cast<std::size_t>(tower) < devices.size()) {
      Device& device = devices[static_cast<std::size_t>(tower)];
      device.backend.reset();
      device.memory.reset();
    }
  });
}

void check_processors(const RunSettings& settings) { check_shares(settings, discover_topology()); }

int default_threads(const RunSettings& settings, int towers) {
  const Topology topology = discover_topology();
  ShareRequest request = share_request(settings, topology);
  request.towers = towers;
  request.threads.reset();
  return std::min(threads_per_tower(topology, request), onednn_most_threads());
}

Device make_device(const RunSettings& settings) {
  return make_tower_device(settings, {.topology = discover_topology()});
}

std::vector<Device> make_devices(const RunSettings& settings, TowerThreads& threads) {
  // Discover it before any thread is bound to processors.
  const Topology topology = discover_topology();
  std::vector<Device> devices(static_cast<std::size_t>(threads.size()));
  if (threads.size() == 1) {
    devices.front() = make_tower_device(settings, {.topology = topology});
    return devices;
  }
  // Check here, so that the user sees one error instead of one per tower.
  check_shares(settings, topology);
  if (settings.execution.device == RunDevice::gpu && !settings.execution.gpu.plan_for) {
    find_gpus_of_towers(settings);
  }
  try {
    threads.run([&](int tower) {
      devices[static_cast<std::size_t>(tower)] =
          make_tower_device(settings, {.tower = tower, .topology = topology});
    });
  } catch (...) {
    drop_backends(devices, threads);
    throw;
  }
  // Most texts are the same for all towers.
  for (const auto texts : {&Device::notices, &Device::warnings}) {
    std::set<std::string> said;
    for (Device& device : devices) {
      std::erase_if(device.*texts,
                    [&](const std::string& text) { return !said.insert(text).second; });
    }
  }
  return devices;
}

std::vector<NamedBackend> make_all_backends() {
  RunSettings settings;
  settings.execution.threads = 1;
  std::vector<NamedBackend> all;
  for (const RunDevice device : {RunDevice::cpu, RunDevice::gpu, RunDevice::reference}) {
    if (device == RunDevice::gpu && find_gpus().provider == nullptr) {
      continue;
    }
    settings.execution.device = device;
    all.push_back({.name = std::string(name_of(device)), .backend = make_device(settings).backend});
  }
  return all;
}

}  // namespace bench
