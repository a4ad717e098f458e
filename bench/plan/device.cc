#include "bench/plan/device.h"

#include <cstdlib>
#include <iomanip>
#include <set>

#include "kernels/cpu/cpu_isa.h"
#include "kernels/cpu/library_variables.h"
#include "kernels/cpu/openmp_environment.h"
#include "kernels/cpu/topology.h"
#include "kernels/gpu_provider.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"

namespace bench {
namespace {

/// What a tower's device is made with.
struct TowerPlace {
  int tower = 0;
  Topology topology = {};
};

/// As many of the processors that this process may use as the run has threads.
std::vector<int> run_processors(Device& device, const Topology& topology,
                                std::optional<int> wanted) {
  if (wanted && static_cast<std::size_t>(*wanted) > topology.processors.size()) {
    throw UsageError(cat("--num_intra_threads=", *wanted, ": this process may use 1 to ",
                         topology.processors.size(), " processors; 0 takes one thread per core"));
  }
  std::vector<int> processors = choose_processors(topology, wanted);
  const int most = onednn_most_threads();
  if (static_cast<int>(processors.size()) <= most) {
    return processors;
  }
  if (wanted) {
    throw UsageError(cat("--num_intra_threads=", *wanted, ": OMP_THREAD_LIMIT allows ", most,
                         "; unset it or ask for no more"));
  }
  device.notices.push_back(
      cat("OMP_THREAD_LIMIT allows ", most, " of ", processors.size(), " threads"));
  return choose_processors(topology, most);
}

void note_inherited_threads(Device& device) {
  const char* inherited = std::getenv("OMP_NUM_THREADS");
  if (inherited != nullptr && cat(device.processors.size()) != inherited) {
    device.notices.push_back(cat("OMP_NUM_THREADS=", inherited,
                                 " is overridden: ", device.processors.size(),
                                 " threads run (--num_intra_threads decides)"));
  }
}

/// The processors of one of several towers: each has as many, and none shares a core with another
/// while there are enough.
std::vector<int> tower_processors(const RunSettings& settings, const TowerPlace& share) {
  const auto towers = static_cast<std::size_t>(settings.towers);
  const std::size_t usable = share.topology.processors.size();
  std::size_t each = static_cast<std::size_t>(settings.threads.value_or(0));
  if (each == 0) {
    const std::size_t cores = choose_processors(share.topology, std::nullopt).size();
    each = std::max(cores, towers) / towers;
  }
  if (each * towers > usable) {
    throw UsageError(settings.threads
                         ? cat("--num_gpus=", towers, " --num_intra_threads=", each,
                               ": this process may use ", usable,
                               " processors, and each device takes ", each, " of its own")
                         : cat("--num_gpus=", towers, ": this process may use ", usable,
                               usable == 1 ? " processor" : " processors",
                               ", and each device takes one at least"));
  }
  const std::vector<int> all = choose_processors(share.topology, static_cast<int>(each * towers));
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(each) * share.tower;
  return {first, first + static_cast<std::ptrdiff_t>(each)};
}

std::size_t gpu_of_tower(const RunSettings& settings, const FoundGpus& found, int tower) {
  if (settings.gpu.virtual_towers) {
    return 0;
  }
  const std::size_t usable = found.gpus.size();
  if (static_cast<std::size_t>(settings.towers) > usable) {
    throw UsageError(cat("--num_gpus=", settings.towers, ": this host has ", usable,
                         usable == 1 ? " GPU that can be used" : " GPUs that can be used",
                         "; --virtual_gpus=", settings.towers, " puts as many towers on one"));
  }
  return static_cast<std::size_t>(tower);
}

Device make_gpu_device(const RunSettings& settings, const TowerPlace& share) {
  const GpuSettings& asked = settings.gpu;
  const GpuOptions options{.tf32 = asked.tf32};
  Device device;
  // Images are decoded, and numbers checked, by the processors there are.
  device.processors = choose_processors(share.topology, std::nullopt);
  if (asked.plan_for) {
    GpuProvider& provider = open_gpu_provider();
    device.backend = provider.make_planner(*asked.plan_for, options);
    device.isa = *asked.plan_for;
    device.library_version = provider.libraries();
    return device;
  }
  const FoundGpus found = find_gpus();
  if (found.provider == nullptr) {
    throw UsageError(cat("--device=gpu: no GPU can be used: ", found.why_none));
  }
  const std::size_t index = gpu_of_tower(settings, found, share.tower);
  const GpuDescription& gpu = found.gpus[index];
  device.gpu = gpu;
  device.backend = found.provider->make_backend(index, options);
  device.isa = cat("sm_", gpu.capability);
  device.name = cat(gpu.name, ", ", device.isa, ", ", gpu.memory_bytes, " bytes");
  device.driver = gpu.driver;
  device.library_version = found.provider->libraries();
  constexpr double kGibi = 1U << 30U;
  device.notices.push_back(cat("computing on ", gpu.name, " (compute capability ",
                               gpu.capability / 10, ".", gpu.capability % 10, ", ", std::fixed,
                               std::setprecision(1), static_cast<double>(gpu.memory_bytes) / kGibi,
                               " GiB), with ", found.provider->libraries()));
  return device;
}

Device make_tower_device(const RunSettings& settings, const TowerPlace& share) {
  if (settings.device == RunDevice::gpu) {
    return make_gpu_device(settings, share);
  }
  Device device;
  if (settings.device == RunDevice::reference) {
    device.backend = make_reference_backend();
    device.isa = "generic";
    device.library_version = "Eigen";
    device.processors = choose_processors(share.topology, 1);
    return device;
  }
  device.processors = settings.towers > 1
                          ? tower_processors(settings, share)
                          : run_processors(device, share.topology, settings.threads);
  note_inherited_threads(device);
  OnednnOptions options{.processors = device.processors,
                        // Beside those that decode images one device's threads may run anywhere;
                        // several would meet on one processor.
                        .pin = !settings.input.dataset || settings.towers > 1,
                        .max_isa = std::nullopt};
  if (const auto cpuid = this_processor()) {
    device.warnings = costly_variables(*cpuid, own_environment);
    const auto limit = isa_limit(own_environment);
    const auto cap = cap_for_hidden_amx_tiles(*cpuid);
    // A limit of the user's that keeps AMX out already stays.
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
      devices[static_cast<std::size_t>(tower)].backend.reset();
    }
  });
}

Device make_device(const RunSettings& settings) {
  check_stacks(own_environment, stack_limit_bytes());
  return make_tower_device(settings, {.topology = discover_topology()});
}

std::vector<Device> make_devices(const RunSettings& settings, TowerThreads& threads) {
  check_stacks(own_environment, stack_limit_bytes());
  // Before any thread is bound to processors.
  const Topology topology = discover_topology();
  std::vector<Device> devices(static_cast<std::size_t>(threads.size()));
  if (threads.size() == 1) {
    devices.front() = make_tower_device(settings, {.topology = topology});
    return devices;
  }
  if (settings.device == RunDevice::cpu) {
    tower_processors(settings, {.topology = topology});  // One refusal instead of one per tower.
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
  // Most say the same.
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
  settings.threads = 1;
  std::vector<NamedBackend> all;
  for (const RunDevice device : {RunDevice::cpu, RunDevice::gpu, RunDevice::reference}) {
    if (device == RunDevice::gpu && find_gpus().provider == nullptr) {
      continue;
    }
    settings.device = device;
    all.push_back({.name = std::string(name_of(device)), .backend = make_device(settings).backend});
  }
  return all;
}

}  // namespace bench
