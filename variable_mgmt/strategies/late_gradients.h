#pragma once

#include <cstddef>
#include <memory>

#include "variable_mgmt/strategy.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// A tower's gradients of the step before, for strategies that apply those, with the variables they
/// were computed with: a weight's decay is a part of its gradient, and as late. In a recorded step
/// the places stay the same.
class LateGradients {
 public:
  explicit LateGradients(Tower& tower);
  ~LateGradients() { finish(tower_.stream()); }
  LateGradients(const LateGradients&) = delete;
  LateGradients& operator=(const LateGradients&) = delete;

  /// Of the step before, whole regions of the tower's device; zeros in the first step.
  [[nodiscard]] const void* gradients() const { return gradients_->data(); }
  [[nodiscard]] const void* variables() const { return variables_->data(); }

  // All enqueue.

  /// Before this step's update: notes the variables that the tower has.
  void note_variables();
  /// Behind this step's update: what was noted and the tower's gradients become those of the step
  /// before.
  void renew();
  /// There was no step before.
  void forget();

 private:
  Tower& tower_;
  std::unique_ptr<DeviceMemory> gradients_;
  std::unique_ptr<DeviceMemory> variables_;
  std::unique_ptr<DeviceMemory> noted_;
};

/// Of one, for regions of so many elements.
std::size_t late_gradients_bytes(std::size_t elements, const StrategySettings& settings);

}  // namespace bench
