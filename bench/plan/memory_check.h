#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plan/device.h"
#include "bench/plan/settings.h"
#include "kernels/executor.h"
#include "results/environment/memory_limit.h"

namespace bench {

/// Bytes by location. If the device computes in host memory, only `host` counts.
struct MemoryNeed {
  std::size_t host = 0;
  std::size_t device = 0;
  [[nodiscard]] std::size_t total() const { return host + device; }
};

/// The memory that a run will hold on all its devices, planned before allocation.
struct PlannedMemory {
  /// For one tower; all towers need the same.
  MemoryReport executor = {};
  /// For each tower, since towers hold the optimizer slots of different variables.
  std::vector<StrategyMemory> updates = std::vector<StrategyMemory>(1);
  /// The towers compute in device memory, not in host memory.
  bool on_device = false;
  /// All towers are on one device.
  bool share_device = false;
  /// For all towers together; each needs the same.
  std::size_t input_slots = 0;
  /// The records in the input's shuffle buffer or cache.
  std::size_t records = 0;
  /// Additional memory outside of the steps, on the host and on a device. It is that of the check
  /// after the steps, of a checkpoint's copy or of an evaluation, whichever is largest.
  MemoryNeed check = {};

  [[nodiscard]] std::size_t towers() const { return updates.size(); }
  /// Slots and records.
  [[nodiscard]] std::size_t input() const { return input_slots + records; }
  /// For all towers: optimizer slots, and the buffers that reduce gradients.
  [[nodiscard]] std::size_t optimizer() const;
  [[nodiscard]] std::size_t communicator() const;
  /// The memory in which a tower computes.
  [[nodiscard]] std::size_t computing(std::size_t tower) const {
    return executor.total() + updates[tower].computing;
  }
  /// What a tower needs by location, including its part of the input but not the check.
  [[nodiscard]] MemoryNeed of_tower(std::size_t tower) const;
  /// The tower whose device has the most to hold.
  [[nodiscard]] std::size_t largest_tower() const;
  /// The regions of all towers, without the check.
  [[nodiscard]] std::vector<MemoryRegion> regions() const;
  [[nodiscard]] std::size_t total() const {
    return towers() * executor.total() + optimizer() + communicator() + input();
  }
};
/// "activations 1.9 GiB, variables ..., optimizer ..., input ..."; with several towers also the
/// need of each by location.
std::ostream& operator<<(std::ostream& out, const PlannedMemory& memory);

/// The memory that a run may use, by location.
struct MemoryLimits {
  Captured<MemoryLimit> host;
  /// nullopt if the device computes in host memory.
  std::optional<MemoryLimit> device = {};

  /// The device need is that of the fullest device.
  [[nodiscard]] MemoryNeed need_of(const PlannedMemory& memory) const;
  /// True if the need fits; an unknown limit accepts everything.
  [[nodiscard]] bool fit(const MemoryNeed& need) const;
};
/// The host's limit and the smallest current limit of the run's devices. With --plan_for, the whole
/// memory of that card and an unknown host limit.
MemoryLimits limits_of_run(const Execution& execution, Captured<MemoryLimit> host,
                           std::span<const Device> devices);

/// The parts of a tower's plan that determine the remaining memory of the run.
struct TowerPlan {
  MemoryReport memory = {};
  /// The trained variables.
  std::vector<OptimizerSegment> segments = {};
};
TowerPlan tower_plan(const Plan& plan);

/// The total memory of a run, given the plan of its executors.
PlannedMemory run_memory(const RunSettings& settings, Backend& backend, const TowerPlan& tower,
                         std::int64_t batch);
/// The same for any batch, planned without allocating.
PlannedMemory plan_run_memory(const RunSettings& settings, Backend& backend, std::int64_t batch);

/// The number of elements of one image, or of one example without an image.
std::size_t image_elements(const Workload& workload);

/// The bytes of one image as the input delivers it.
std::size_t slot_image_bytes(const RunSettings& settings);

/// The bytes of one batch of images, and of the numbers besides them, as the network reads them.
std::size_t image_bytes(const Workload& workload, std::int64_t batch);

/// The memory of the network check after the steps, in addition to the plan. The host holds images,
/// variables and the reference's work on a kernel. The device holds the largest tensor in f32
/// before it is copied to the host.
MemoryNeed fingerprint_need(const RunSettings& settings, Backend& backend, std::int64_t batch);

using NeedForBatch = std::function<MemoryNeed(std::int64_t batch)>;

/// The largest batch that fits, and its need; 0 if no batch fits.
struct LargestBatch {
  std::int64_t batch = 0;
  MemoryNeed need = {};
  /// The need with one more image, which does not fit; empty if it was not queried.
  MemoryNeed next = {};
};
/// Searches below `below` by bisection. Does not query a batch whose images alone do not fit, which
/// is too large to plan.
LargestBatch largest_batch(const Workload& workload, const MemoryLimits& limits,
                           const NeedForBatch& need_for, std::int64_t below);

/// Throws UsageError if the network's variables alone exceed the host's limit. Call it before they
/// are drawn. With --plan_for no variables are drawn.
void check_variables_memory(const RunSettings& settings, const Captured<MemoryLimit>& limit);

/// Throws UsageError if the images of one batch alone exceed a limit. Call it before the network is
/// planned for that batch. Otherwise like check_memory().
void check_images_memory(const Workload& workload, const MemoryLimits& limits,
                         const NeedForBatch& need_for);

/// The need, the limit and its origin, in a sentence; nullopt if the memory fits the limits.
std::optional<std::string> memory_shortage(const Workload& workload, const PlannedMemory& memory,
                                           const MemoryLimits& limits);

/// Throws UsageError with that sentence and the largest batch that fits, unless the memory fits the
/// limits.
void check_memory(const Workload& workload, const PlannedMemory& memory, const MemoryLimits& limits,
                  const NeedForBatch& need_for);

}  // namespace bench
