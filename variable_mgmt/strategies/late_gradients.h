#pragma once

#include <cstddef>
#include <memory>

#include "variable_mgmt/strategies/strategy.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// A tower's gradients of the previous step, with the variables that they were computed with, for
/// strategies that apply them late. Weight decay is part of a gradient, so it is equally late. The
/// addresses stay the same, so that a step can be recorded.
class LateGradients {
 public:
  explicit LateGradients(Tower& tower);
  ~LateGradients() { finish(tower_.stream()); }
  LateGradients(const LateGradients&) = delete;
  LateGradients& operator=(const LateGradients&) = delete;

  /// Whole regions of the previous step on the tower's device; zeros in the first step.
  [[nodiscard]] const void* gradients() const { return gradients_->data(); }
  [[nodiscard]] const void* variables() const { return variables_->data(); }
  /// The part of both that a tower uses.
  [[nodiscard]] std::vector<StateRegion> state_regions(const RegionRange& range) const;

  // All of these enqueue.

  /// Call it before this step's update: saves the tower's variables.
  void note_variables();
  /// Call it after this step's update: the saved variables and the tower's gradients become those
  /// of the previous step.
  void renew();
  /// Resets to the state of the first step.
  void forget();

 private:
  Tower& tower_;
  std::unique_ptr<DeviceMemory> gradients_;
  std::unique_ptr<DeviceMemory> variables_;
  std::unique_ptr<DeviceMemory> noted_;
};

/// The memory of one LateGradients for regions of `elements` elements.
std::size_t late_gradients_bytes(std::size_t elements, const StrategySettings& settings);

}  // namespace bench
