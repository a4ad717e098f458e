#pragma once

#include <memory>
#include <optional>
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
  ~Tower() { finish(stream()); }
  Tower(const Tower&) = delete;
  Tower& operator=(const Tower&) = delete;

  /// Enqueues forward and, where the graph has it, backward on a batch: images f32 in
  /// executor().input_layout("images"), widened where the graph computes in f64; labels s32. Both
  /// have to stay as they are until wait(), which has to come before the next step is enqueued.
  void enqueue(const float* images, const std::int32_t* labels, const StepOrders& orders);
  /// The parts of it, of which the last two may be recorded: gives the batch, whose images need no
  /// bringing where they are the same `content` as before (Executor::feed()); brings the orders to
  /// the device, once they were set; runs.
  void feed(const float* images, const std::int32_t* labels, const ContentId& content = {});
  /// The same with images as pixels, u8 in NHWC, which the device normalises.
  void feed_pixels(const std::uint8_t* pixels, const std::int32_t* labels,
                   const ContentId& content = {});
  /// Whether the next batch may be given while a run that is enqueued goes on; wait() waits for it
  /// too. Otherwise that run would read it.
  [[nodiscard]] bool feeds_ahead() const { return !backend_.shares_host_memory(); }
  void set_orders(const StepOrders& orders) { host_->given.orders = orders; }
  void upload_orders();
  void enqueue_run() { executor_.enqueue(); }
  /// Waits until everything enqueued is done.
  void wait() { stream().synchronize(); }
  /// enqueue() and wait().
  void run(const float* images, const std::int32_t* labels, std::int32_t step);
  /// The same with images in canonical order (N, C, H, W), copied into memory of the executor's
  /// own.
  void run_canonical(std::span<const float> images, std::span<const std::int32_t> labels,
                     std::int32_t step);
  /// The same, each step observed.
  void run_observed(std::span<const float> images, std::span<const std::int32_t> labels,
                    std::int32_t step, const Executor::Observer& observer);

  /// What the gradients are multiplied by from now on; 1 at first. Counts good and skipped steps
  /// anew, which leaves the updates of the slots' history as they are; waits.
  void set_loss_scale(double scale);
  /// Where it lies on the device: not for the host to read.
  [[nodiscard]] StepState* state();
  /// Enqueues that the step's gradients are all finite (1), or not (0), whatever was found before.
  void set_finite(std::int32_t finite);
  /// Enqueues a copy of it to the host, for seen_state() once that is done.
  void fetch_state();
  [[nodiscard]] const StepState& seen_state() const { return host_->seen; }
  /// Gives every variable the value of its name.
  void write_variables(const InitialValues& values);
  /// The type of the graph's input of that name; null when there is none.
  [[nodiscard]] const TensorType* find_input(const std::string& name) const;

  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] Stream& stream() { return executor_.stream(); }
  [[nodiscard]] Backend& backend() { return backend_; }

 private:
  void feed_labels(const std::int32_t* labels);
  void place_scalar(const std::string& input, std::size_t offset);
  void write_batch(std::span<const float> images, std::span<const std::int32_t> labels);

  Backend& backend_;
  Executor executor_;
  Executor::Input images_;
  std::size_t image_elements_ = 0;
  std::optional<Executor::Input> labels_;
  std::size_t label_elements_ = 0;
  /// Of the host.
  struct HostState {
    /// What was last brought to the device, and what was last fetched.
    StepState given;
    StepState seen;
  };
  std::unique_ptr<DeviceMemory> staging_;
  HostState* host_;
  std::unique_ptr<DeviceMemory> device_state_;
  /// The images of a graph in f64.
  std::vector<double> wide_images_;
};

}  // namespace bench
