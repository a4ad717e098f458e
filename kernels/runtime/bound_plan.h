#pragma once

#include <memory>
#include <vector>

#include "kernels/runtime/plan.h"

namespace bench {

/// A step of a plan with its kernel and its memory. If the device computes in the host's memory,
/// the memory of a graph input is null until it is set.
struct BoundStep {
  std::unique_ptr<Kernel> kernel;
  std::vector<TensorView> inputs;
  std::vector<TensorView> outputs;
};

/// The memory of a plan on its device, and its kernels on that memory.
class BoundPlan {
 public:
  /// The plan and the backend outlive this.
  BoundPlan(const Plan& plan, Backend& backend);

  [[nodiscard]] std::vector<BoundStep>& steps() { return steps_; }
  [[nodiscard]] std::vector<BoundStep>& refreshes() { return refreshes_; }
  /// A buffer's memory; null for a graph input if the device computes in the host's memory.
  [[nodiscard]] TensorView view(std::size_t buffer) const;
  /// Whole regions.
  [[nodiscard]] TensorView variables() const;
  [[nodiscard]] TensorView gradients() const;
  [[nodiscard]] TensorView copies() const;
  [[nodiscard]] TensorView activations() const;
  [[nodiscard]] TensorView workspace() const;

 private:
  [[nodiscard]] std::vector<BoundStep> bind(const std::vector<Step>& steps) const;

  const Plan& plan_;
  std::unique_ptr<DeviceMemory> variables_;
  std::unique_ptr<DeviceMemory> gradients_;
  std::unique_ptr<DeviceMemory> copies_;
  std::unique_ptr<DeviceMemory> activations_;
  std::unique_ptr<DeviceMemory> workspace_;
  /// Null if the device computes in the host's memory.
  std::unique_ptr<DeviceMemory> inputs_;
  std::vector<BoundStep> steps_;
  std::vector<BoundStep> refreshes_;
};

}  // namespace bench
