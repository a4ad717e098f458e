#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/host/memory_limit.h"
#include "bench/plan/device.h"
#include "bench/plan/settings.h"
#include "kernels/executor.h"

namespace bench {

/// Bytes by the place where they lie. Where the device computes in the host's memory, the host's
/// alone count.
struct MemoryNeed {
  std::size_t host = 0;
  std::size_t device = 0;
  [[nodiscard]] std::size_t total() const { return host + device; }
};

/// Everything a run will hold on all its devices, planned before it is allocated.
struct PlannedMemory {
  /// Of one tower; all have the same.
  MemoryReport executor = {};
  /// Of each tower, what differs between them: the optimizer's slots are those of what it holds.
  std::vector<StrategyMemory> updates = std::vector<StrategyMemory>(1);
  /// The towers compute in memory of a device, and not in the host's.
  bool on_device = false;
  /// All towers are on one device.
  bool share_device = false;
  /// Of all towers, alike.
  std::size_t input_slots = 0;
  /// What the check after the steps takes beside, on the host and on a device.
  MemoryNeed check = {};

  [[nodiscard]] std::size_t towers() const { return updates.size(); }
  /// Of all towers: slots, and where they meet.
  [[nodiscard]] std::size_t optimizer() const;
  [[nodiscard]] std::size_t meeting() const;
  /// What a tower computes in.
  [[nodiscard]] std::size_t computing(std::size_t tower) const {
    return executor.total() + updates[tower].computing;
  }
  /// What a tower takes, by place, with its part of the input; without the check.
  [[nodiscard]] MemoryNeed of_tower(std::size_t tower) const;
  /// The tower whose device has the most to hold.
  [[nodiscard]] std::size_t largest_tower() const;
  /// Of all towers, without the check.
  [[nodiscard]] std::vector<MemoryRegion> regions() const;
  [[nodiscard]] std::size_t total() const {
    return towers() * executor.total() + optimizer() + meeting() + input_slots;
  }
};
/// "activations 1.9 GiB, variables ..., optimizer ..., input ..."; of several towers also what each
/// takes, by place.
std::ostream& operator<<(std::ostream& out, const PlannedMemory& memory);

/// What a run may take, by place.
struct MemoryLimits {
  Captured<MemoryLimit> host;
  /// None where the device computes in the host's memory.
  std::optional<MemoryLimit> device = {};

  /// Of a device, what the one with the most to hold needs.
  [[nodiscard]] MemoryNeed need_of(const PlannedMemory& memory) const;
  /// Whether there is room; an unknown limit lets everything pass.
  [[nodiscard]] bool fit(const MemoryNeed& need) const;
};
/// The host's limit, and of the run's devices that of the one that has the least now; with
/// --plan_for all memory of that card, in a host that nobody knows.
MemoryLimits limits_of_run(const RunSettings& settings, Captured<MemoryLimit> host,
                           std::span<const Device> devices);

/// What of a tower's plan decides what the run takes around it.
struct TowerPlan {
  MemoryReport memory = {};
  /// What is trained.
  std::vector<OptimizerSegment> segments = {};
};
TowerPlan tower_plan(const Plan& plan);

/// The whole of a run's memory around what its executors plan.
PlannedMemory run_memory(const RunSettings& settings, Backend& backend, const TowerPlan& tower,
                         std::int64_t batch);
/// The same for any batch, planned without allocating.
PlannedMemory plan_run_memory(const RunSettings& settings, Backend& backend, std::int64_t batch);

/// Elements of one image.
std::size_t image_elements(const RunSettings& settings);

/// Bytes of one image as the input hands it over.
std::size_t slot_image_bytes(const RunSettings& settings);

/// Bytes of one batch of images, as the network reads them.
std::size_t image_bytes(const RunSettings& settings, std::int64_t batch);

/// What the check of the network takes after the steps, beside the plan: on the host images,
/// variables, and the reference's work on a kernel; on the device the largest tensor in f32, on its
/// way to the host.
MemoryNeed fingerprint_need(const RunSettings& settings, Backend& backend, std::int64_t batch);

using NeedForBatch = std::function<MemoryNeed(std::int64_t batch)>;

/// The largest batch whose memory fits, and what it needs; 0 when none does.
struct LargestBatch {
  std::int64_t batch = 0;
  MemoryNeed need = {};
  /// Of one more image, which does not fit; nothing where nobody was asked about it.
  MemoryNeed next = {};
};
/// Looks below `below` by bisection; a batch whose images alone are too much, which is too large to
/// be planned at all, is not asked about.
LargestBatch largest_batch(const RunSettings& settings, const MemoryLimits& limits,
                           const NeedForBatch& need_for, std::int64_t below);

/// Throws UsageError when the network's variables alone exceed the host's limit: before they are
/// drawn. With --plan_for none are.
void check_variables_memory(const RunSettings& settings, const Captured<MemoryLimit>& limit);

/// Throws UsageError when the images of one batch alone exceed a limit: before the network is
/// planned for it. What else as check_memory().
void check_images_memory(const RunSettings& settings, const MemoryLimits& limits,
                         const NeedForBatch& need_for);

/// The need, the limit and what set it, in a sentence; none where the memory fits into the limits.
std::optional<std::string> memory_shortage(const RunSettings& settings, const PlannedMemory& memory,
                                           const MemoryLimits& limits);

/// Throws UsageError with that sentence and the largest batch that fits, unless the memory fits
/// into the limits.
void check_memory(const RunSettings& settings, const PlannedMemory& memory,
                  const MemoryLimits& limits, const NeedForBatch& need_for);

}  // namespace bench
