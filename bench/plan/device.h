#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "kernels/cpu/affinity.h"
#include "kernels/gpu_provider.h"
#include "variable_mgmt/towers/tower_threads.h"

namespace bench {

/// The device of a run, with notices and warnings for the user.
struct Device {
  /// Binds the memory of this thread and of the backend's threads; null: the system decides.
  /// Belongs to the thread that made it and is destroyed after the backend.
  std::unique_ptr<cpu::MemoryOnNode> memory;
  std::unique_ptr<Backend> backend;
  std::vector<int> processors;
  /// The threads are not bound to processors; only the number of `processors` counts.
  bool anywhere = false;
  /// Conditions that reduce performance, such as a limited instruction set, with remedies.
  std::vector<std::string> warnings;
  /// Identifies the GPU that computes, together with its driver.
  std::string name;
  std::string driver;
  /// The instruction set for which kernels are made.
  std::string isa;
  std::string library_version;
  std::vector<std::string> notices;
  /// The GPU that computes; nullopt on the CPU and if the run only plans.
  std::optional<GpuDescription> gpu = {};
};

/// Makes the device of a run. On the CPU it places threads on the processors that this process may
/// use. It caps the instruction set where AMX is unusable. Throws UsageError if there are more
/// threads than processors, or if the run needs a GPU and none is usable.
Device make_device(const RunSettings& settings);

/// Makes the devices of all towers, each on its tower's thread. CPU towers get equal shares of the
/// processors, in the order of the machine's memory and caches. GPU towers get one GPU each; with
/// --virtual_gpus all use the first GPU. Throws UsageError if there are too few.
std::vector<Device> make_devices(const RunSettings& settings, TowerThreads& threads);

/// Throws UsageError if the towers run on the CPU and there are too few processors.
void check_processors(const RunSettings& settings);

/// The default number of threads per CPU device for this number of towers.
int default_threads(const RunSettings& settings, int towers);

/// Destroys the devices' backends and thread resources, each on its tower's thread.
void drop_backends(std::span<Device> devices, TowerThreads& threads);

/// A device with its name in --device.
struct NamedBackend {
  std::string name;
  std::unique_ptr<Backend> backend;
};

/// Makes every device that is usable here, with one thread each, to query what it can run.
std::vector<NamedBackend> make_all_backends();

}  // namespace bench
