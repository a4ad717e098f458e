#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/executor.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// One copy of the network on one device: an executor with initialised variables, and the inputs of
/// each step. Used by the host thread that made its backend.
class Tower {
 public:
  /// `graph` is a result of build_network, with or without gradients. `values` has every variable.
  Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
        const InitialValues& values);
  ~Tower() { finish(stream()); }
  Tower(const Tower&) = delete;
  Tower& operator=(const Tower&) = delete;

  /// Enqueues forward and, if the graph has it, backward on a batch. Images are f32 in
  /// executor().input_layout("images"), widened if the graph computes in f64; labels are s32. Both
  /// must stay unchanged until wait(), and wait() must precede the next enqueue().
  void enqueue(const float* images, const std::int32_t* labels, const StepParameters& parameters);
  /// The parts of enqueue() are feed(), upload_parameters() after set_parameters(), and
  /// enqueue_run(); the last two can be recorded. feed() skips the upload of images with the same
  /// `content` as before (Executor::feed()).
  void feed(const float* images, const std::int32_t* labels, const ContentId& content = {});
  /// Feeds numbers to an input of that name, as many as it has elements: s32, or f32 in canonical
  /// order if the input is real. `content` is that of feed(). In inference, numbers that the
  /// graph does not read have no effect.
  void feed_numbers(std::string_view input, const void* numbers, const ContentId& content = {});
  /// Feeds images as u8 pixels in NHWC, which the device normalises.
  void feed_pixels(const std::uint8_t* pixels, const std::int32_t* labels,
                   const ContentId& content = {});
  /// True if the next batch may be fed during an enqueued run; wait() then waits for both.
  /// Otherwise that run would read the new batch.
  [[nodiscard]] bool feeds_ahead() const { return !backend_.shares_host_memory(); }
  void set_parameters(const StepParameters& parameters) { host_->given.parameters = parameters; }
  void upload_parameters();
  void enqueue_run() { executor_.enqueue(); }
  /// Waits until everything enqueued is done.
  void wait() { stream().synchronize(); }
  /// enqueue() and wait().
  void run(const float* images, const std::int32_t* labels, std::int32_t step);
  /// Copies numbers, as feed_numbers() takes them, into an input of that name in the executor's
  /// memory, for the following runs; waits.
  void write_numbers(const std::string& input, std::span<const std::int32_t> numbers) {
    executor_.write_input(input, std::as_bytes(numbers));
  }
  void write_numbers(const std::string& input, std::span<const float> numbers);
  /// run() with images in canonical order (N, C, H, W), which are copied into the executor's
  /// memory. Empty images or labels keep those that were written before.
  void run_canonical(std::span<const float> images, std::span<const std::int32_t> labels,
                     std::int32_t step);
  /// run_canonical() with an observer of each step.
  void run_observed(std::span<const float> images, std::span<const std::int32_t> labels,
                    std::int32_t step, const Executor::Observer& observer);

  /// Sets the loss scale, which multiplies the gradients and is 1 at first. Resets the counts of
  /// good and skipped steps, but not the count of updates in the slots' history. Waits.
  void set_loss_scale(double scale);
  /// Sets the loss scale and all counts to those of `state`. Waits.
  void restore_state(const StepState& state);
  /// The state's address on the device; the host must not read it.
  [[nodiscard]] StepState* state();
  /// Enqueues the verdict that all gradients of the step are finite (1) or not (0), which replaces
  /// the earlier one.
  void set_finite(std::int32_t finite);
  /// Enqueues a copy of the state to the host; seen_state() returns it once the copy is done.
  void fetch_state();
  /// The state at the last fetch_state(), set_loss_scale() or restore_state().
  [[nodiscard]] const StepState& seen_state() const { return host_->seen; }
  /// Sets every variable to the value of its name.
  void write_variables(const InitialValues& values);
  /// The examples that a run computes.
  [[nodiscard]] std::int64_t examples() const;
  /// The elements of an image; 0 if the network reads none.
  [[nodiscard]] std::size_t elements_of_image() const {
    return image_elements_ / static_cast<std::size_t>(examples());
  }
  /// The inputs that feed_numbers() accepts: labels, tokens.
  [[nodiscard]] std::vector<std::string> number_inputs() const;
  /// The type of the graph's input of that name; null if it does not exist.
  [[nodiscard]] const TensorType* find_input(std::string_view name) const;

  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] Stream& stream() { return executor_.stream(); }
  [[nodiscard]] Backend& backend() { return backend_; }

 private:
  void place_scalar(const std::string& input, std::size_t offset);
  void write_batch(std::span<const float> images, std::span<const std::int32_t> labels);

  Backend& backend_;
  Executor executor_;
  std::optional<Executor::Input> images_;
  std::size_t image_elements_ = 0;
  /// An input that is fed with numbers.
  struct Numbers {
    std::string name;
    Executor::Input input;
    std::size_t elements = 0;
    DType dtype = DType::s32;
    /// The real numbers of a graph in f64.
    std::vector<double> wide = {};
  };
  std::vector<Numbers> numbers_;
  /// The state in host memory.
  struct HostState {
    /// The state last uploaded to the device, and the one last fetched from it.
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
