#pragma once

#include <memory>
#include <vector>

#include "variable_mgmt/gradients/shared_region.h"
#include "variable_mgmt/strategies/strategy.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// The optimizer of a range of a tower's flat regions, with slots for that range only.
class RangeOptimizer {
 public:
  RangeOptimizer(Tower& tower, const OptimizerSettings& settings, RegionRange range);
  ~RangeOptimizer() { finish(tower_.stream()); }
  RangeOptimizer(const RangeOptimizer&) = delete;
  RangeOptimizer& operator=(const RangeOptimizer&) = delete;

  /// All of these enqueue. `variables`, `gradients` and `decaying` (see OptimizerMemory) are whole
  /// regions of the tower's device.
  void judge(const void* gradients);
  void launch(void* variables, const void* gradients, const void* decaying = nullptr);
  /// With sparse gradients of one or more towers (OptimizerMemory). The range is the whole region.
  void launch(void* variables, const void* gradients, std::span<const SparseGradient> sparse);
  void reset();

  [[nodiscard]] std::vector<StateRegion> state_regions() const;

 private:
  [[nodiscard]] std::size_t first_byte() const { return range_.first * size_; }

  Tower& tower_;
  const RegionRange range_;
  const std::size_t size_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  std::vector<void*> slots_;
};

/// The range of a tower's whole regions.
RegionRange whole_range(const Executor& executor);

}  // namespace bench
