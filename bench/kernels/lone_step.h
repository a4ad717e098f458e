#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/staging.h"

namespace bench {

/// A step of a plan and how many of the plan's steps are like it.
struct DistinctStep {
  /// Index of the first.
  std::size_t step = 0;
  std::int64_t count = 0;
  /// "(f32[8x64x56x56] nChw16c, ...) -> (...)"; an output in an input's place says so.
  std::string shapes;
};

/// Steps that differ in kind, implementation, attributes, types, layouts or in what they overwrite,
/// in the order of the plan. The counts add up to the plan's steps.
std::vector<DistinctStep> distinct_steps(const Plan& plan);

/// One step of a plan by itself: its kernel on memory of its own, filled with numbers around 1
/// (labels with 0). What only other kernels can write, such as the places of a pool's maxima, those
/// write before.
class LoneStep {
 public:
  /// The plan and the backend outlive this.
  LoneStep(const Plan& plan, std::size_t step, Backend& backend);
  ~LoneStep() { finish(*stream_); }
  LoneStep(const LoneStep&) = delete;
  LoneStep& operator=(const LoneStep&) = delete;

  /// Runs the kernel and waits; returns how long that took, by the device's events where it has
  /// memory of its own. Inputs that the kernel overwrites get
  /// their first contents back before.
  std::chrono::nanoseconds run();

  /// The step's outputs as they lie in memory.
  [[nodiscard]] const std::vector<TensorView>& outputs() const { return bound_.outputs; }

 private:
  struct Bound {
    std::unique_ptr<Kernel> kernel;
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
    std::unique_ptr<DeviceMemory> workspace;
  };
  struct Overwritten {
    TensorView input;
    std::unique_ptr<DeviceMemory> contents;
  };

  Bound bind(std::size_t step, bool in_place);
  void enqueue(Bound& bound);
  /// The same and waits.
  void launch(Bound& bound);
  void prepare(std::size_t buffer);
  void fill(const Buffer& buffer, TensorView memory);
  TensorView allocate(std::size_t buffer);
  void keep_overwritten();

  const Plan& plan_;
  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  /// Around the kernel, where the device has memory of its own.
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  Staging staging_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  std::map<std::size_t, TensorView> views_;
  Bound bound_;
  std::vector<Overwritten> overwritten_;
};

}  // namespace bench
