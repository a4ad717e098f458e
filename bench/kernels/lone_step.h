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

/// A step of a plan and the number of equal steps in the plan.
struct DistinctStep {
  /// The index of the first of them.
  std::size_t step = 0;
  std::int64_t count = 0;
  /// "(f32[8x64x56x56] nChw16c, ...) -> (...)"; marks outputs that reuse an input's memory.
  std::string shapes;
};

/// Returns the steps that differ in kind, implementation, attributes, types, layouts or overwritten
/// inputs, in the order of the plan. The counts add up to the plan's steps.
std::vector<DistinctStep> distinct_steps(const Plan& plan);

/// One step of a plan in isolation. Its kernel runs on separate memory that contains numbers around
/// 1. Rows of tables, and labels of CTC and multibox losses, are drawn; other integers are 0.
/// Values that only other kernels can write, such as the positions of a pool's maxima, are written
/// by those kernels first.
class LoneStep {
 public:
  /// The plan and the backend must outlive this object.
  LoneStep(const Plan& plan, std::size_t step, Backend& backend);
  ~LoneStep() { finish(*stream_); }
  LoneStep(const LoneStep&) = delete;
  LoneStep& operator=(const LoneStep&) = delete;

  /// Runs the kernel, waits, and returns its time, by the device's events if it has separate
  /// memory. Inputs that the kernel overwrites are restored before.
  std::chrono::nanoseconds run();

  /// The step's outputs in their memory layout.
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
  /// Does the same and waits.
  void launch(Bound& bound);
  void prepare(std::size_t buffer);
  void fill(const Buffer& buffer, TensorView memory);
  /// Draws rows of tables, labels and counts. Other integers stay 0.
  void fill_integers(const Buffer& buffer, TensorView memory);
  TensorView allocate(std::size_t buffer);
  void keep_overwritten();

  const Plan& plan_;
  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  /// Recorded before and after the kernel, if the device has separate memory.
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  Staging staging_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  std::map<std::size_t, TensorView> views_;
  Bound bound_;
  std::vector<Overwritten> overwritten_;
};

}  // namespace bench
