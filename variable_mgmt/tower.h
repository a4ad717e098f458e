#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/executor.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// One copy of the network on one device: an executor with its variables, initialised, and the
/// inputs that change from step to step. Used by the host thread that made its backend.
class Tower {
 public:
  /// `graph` as build_network made it, with or without gradients. `values` has every variable.
  Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
        const InitialValues& values);

  /// Runs forward and, where the graph has it, backward on a batch: images f32 in
  /// executor().input_layout("images"), widened where the graph computes in f64; labels s32. Waits.
  void run(const float* images, const std::int32_t* labels, std::int32_t step);
  /// The same with images in canonical order (N, C, H, W), copied into memory of the executor's
  /// own.
  void run_canonical(std::span<const float> images, std::span<const std::int32_t> labels,
                     std::int32_t step);
  /// The same, each step observed.
  void run_observed(std::span<const float> images, std::span<const std::int32_t> labels,
                    std::int32_t step, const Executor::Observer& observer);

  /// What the gradients of all runs from now on are multiplied by; 1 at first.
  void set_loss_scale(double scale) {
    loss_scale_ = static_cast<float>(scale);
    wide_loss_scale_ = scale;
  }
  /// Gives every variable the value of its name.
  void write_variables(const InitialValues& values);
  /// The type of the graph's input of that name; null when there is none.
  [[nodiscard]] const TensorType* find_input(const std::string& name) const;

  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] Stream& stream() { return *stream_; }
  [[nodiscard]] Backend& backend() { return backend_; }

 private:
  void run_bound(std::int32_t step);
  void write_batch(std::span<const float> images, std::span<const std::int32_t> labels);

  Backend& backend_;
  Executor executor_;
  std::unique_ptr<Stream> stream_;
  float loss_scale_ = 1;
  double wide_loss_scale_ = 1;
  /// The images of a graph in f64.
  std::vector<double> wide_images_;
  std::int32_t step_ = 0;
};

}  // namespace bench
