#pragma once

#include <memory>
#include <string>

#include "kernels/executor.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// One copy of the network on one device: an executor with its variables, initialised, and the inputs
/// that change from step to step. Used by the host thread that made its backend.
class Tower {
 public:
  /// `graph` as build_network made it, with or without gradients. `values` has every variable.
  Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
        const InitialValues& values);

  /// Runs forward and, where the graph has it, backward on a batch: images f32 in
  /// executor().input_layout("images"), labels s32. Waits.
  void run(const float* images, const std::int32_t* labels, std::int32_t step);

  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] Stream& stream() { return *stream_; }
  [[nodiscard]] Backend& backend() { return backend_; }

 private:
  [[nodiscard]] bool has_input(const std::string& name) const;

  Backend& backend_;
  Executor executor_;
  std::unique_ptr<Stream> stream_;
  float loss_scale_ = 1;
  std::int32_t step_ = 0;
};

}  // namespace bench
