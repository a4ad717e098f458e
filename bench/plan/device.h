#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "kernels/cpu/affinity.h"
#include "kernels/gpu_provider.h"
#include "variable_mgmt/tower_threads.h"

namespace bench {

/// The device of a run and what is to be told about it.
struct Device {
  /// Where its thread and the backend's have their memory from; null: as the system likes. Belongs
  /// to the thread that made it, and goes after the backend.
  std::unique_ptr<cpu::MemoryOnNode> memory;
  std::unique_ptr<Backend> backend;
  std::vector<int> processors;
  /// Its threads are kept to no processor: `processors` tells only how many they are.
  bool anywhere = false;
  /// What will make the numbers low, such as a limited instruction set, and what helps.
  std::vector<std::string> warnings;
  /// Of a GPU that computes: what tells it from others, and its driver.
  std::string name;
  std::string driver;
  /// The instruction set kernels are made for.
  std::string isa;
  std::string library_version;
  std::vector<std::string> notices;
  /// That computes; none on the CPU, and where only a plan is made.
  std::optional<GpuDescription> gpu = {};
};

/// On the CPU: places threads on the processors this process may use, caps the instruction set
/// where AMX cannot be used, and makes the backend. Throws UsageError for more threads than
/// processors, and where no GPU can be used that the run asks for.
Device make_device(const RunSettings& settings);

/// The devices of all of a run's towers, each made on its tower's thread: equal shares of the
/// processors, in the order of the machine's memory and caches, or a GPU each (with --virtual_gpus
/// the first one for all). Throws UsageError where there are too few.
std::vector<Device> make_devices(const RunSettings& settings, TowerThreads& threads);

/// Throws UsageError where the run's towers are of the CPU and there are too few processors.
void check_processors(const RunSettings& settings);

/// How many threads each of so many devices of the CPU has where nobody says.
int default_threads(const RunSettings& settings, int towers);

/// Ends the devices' backends and what they hold of their threads, each on its tower's thread.
void drop_backends(std::span<Device> devices, TowerThreads& threads);

/// A device as --device names it.
struct NamedBackend {
  std::string name;
  std::unique_ptr<Backend> backend;
};

/// Every device that can be used here, with one thread, to be asked what it can run.
std::vector<NamedBackend> make_all_backends();

}  // namespace bench
