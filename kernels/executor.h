#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/plan.h"
#include "models/base/content_id.h"
#include "models/base/errors.h"

namespace bench {

/// A run was ended from elsewhere.
class RunCancelled : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

struct ExecutorOptions {
  DataFormat format = DataFormat::automatic;
  /// As in LoweringOptions; all are used by the constructor only.
  const Choices* pinned = nullptr;
  Tuner tuner = {};
  bool deterministic = false;
  std::string_view pixels = {};
  /// For tests: before each run everything but inputs and variables is filled with NaN bytes, and
  /// guard bytes behind every variable and gradient are checked afterwards (InternalError), for
  /// which every run waits.
  bool poison = false;
  /// Sees the plan before anything is allocated and throws when it asks for too much; may be empty.
  std::function<void(const Plan&)> admit = {};

  [[nodiscard]] LoweringOptions lowering() const {
    return {.format = format,
            .pinned = pinned,
            .tuner = tuner,
            .deterministic = deterministic,
            .pixels = pixels};
  }
};

/// A plan with its kernels made and its memory allocated once, on one device, with one stream for
/// all it does. A run looks nothing up, allocates nothing and creates no primitive.
class Executor {
 public:
  Executor(const Graph& graph, Backend& backend, const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// The graph as it runs.
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const LoweredGraph& plan() const;
  [[nodiscard]] const MemoryReport& memory() const;
  [[nodiscard]] Stream& stream();

  /// Stands for a graph input in the calls below.
  enum class Input : std::size_t {};
  [[nodiscard]] Input input(const std::string& name) const;
  /// The layout the plan wants an input in.
  [[nodiscard]] const Layout& input_layout(const std::string& name) const;
  /// Gives a graph input to the runs enqueued from now on: memory of the host, in its layout, which
  /// has to stay as it is until they are done. Where the device does not share the host's memory,
  /// it is copied on a stream of its own while runs that were enqueued before go on; but not where
  /// what was copied last is the same `content` of the same memory.
  void feed(Input input, std::span<const std::byte> host, const ContentId& content = {});
  /// The same with pixels of images in their place, u8 in NHWC, which the device normalises as
  /// those of all datasets (Backend::make_normalization) into memory of the executor's own. What
  /// ExecutorOptions::pixels names is not to be fed in another way.
  void feed_pixels(Input input, std::span<const std::uint8_t> host, const ContentId& content = {});
  /// Where the device does not share the host's memory: between these calls what is fed is only
  /// brought, and what is enqueued neither sees nor awaits it; runs behind the second one see it.
  void begin_ahead();
  void take_ahead();
  /// The same with memory of the device that is the caller's: what lies there when a run begins.
  void place(Input input, void* device);
  /// Copies a graph input in canonical order into memory of the executor's own; waits.
  void write_input(const std::string& name, std::span<const std::byte> canonical);
  /// What write_input() or feed_pixels() put there last, in canonical order, converted to f32;
  /// waits.
  [[nodiscard]] std::vector<float> read_input(const std::string& name);

  /// Copies a variable from or to canonical order, converting from and to f32 (an s8 variable takes
  /// whole numbers); waits. Writing it makes its copies anew.
  void write_variable(const std::string& name, std::span<const float> canonical);
  /// The vector given, if any, is what comes back: one tensor after the other needs no fresh pages.
  [[nodiscard]] std::vector<float> read_variable(const std::string& name,
                                                 std::vector<float> reused = {});
  /// Enqueues that all copies of the variables in 16 bits are made anew: for who writes variables()
  /// and leaves their copies behind.
  void renew_copies();
  /// A copy of a trained variable in 16 bits, in canonical order.
  struct Copy {
    DType dtype = DType::bf16;
    std::vector<float> values;
  };
  /// All of a variable's; waits.
  [[nodiscard]] std::vector<Copy> read_copies(const std::string& variable);
  /// A named output, in its own type or converted to f32, or the gradient of a variable (converted
  /// too), of the last run in canonical order; waits.
  [[nodiscard]] std::vector<std::byte> read_output(const std::string& name);
  [[nodiscard]] std::vector<float> read_output_as_floats(const std::string& name);
  [[nodiscard]] std::vector<float> read_gradient(const std::string& variable,
                                                 std::vector<float> reused = {});
  /// The same in the variable's own type.
  [[nodiscard]] std::vector<std::byte> read_gradient_bytes(const std::string& variable);

  /// Hears in each run of gradients that nothing touches any more once what is enqueued is done:
  /// indices into segments(), from `first` up to `last`, which is not among them. Each index comes
  /// once, in order. What it enqueues on stream() comes before the kernels that follow. Empty at
  /// first.
  using GradientsFinal = std::function<void(std::size_t first, std::size_t last)>;
  /// A recorded run tells of them only at its parts' ends: where as many are final as `parts` says,
  /// whose numbers rise, and at the end. Forgets recordings.
  void set_gradients_final(GradientsFinal gradients_final, std::vector<std::size_t> parts = {});

  /// Every run ends before its next kernel once that is true, with RunCancelled; null, as at first:
  /// none does. It is looked at before each kernel that is launched.
  void set_cancelled(const std::atomic<bool>* cancelled);

  /// Enqueues every kernel in order, and at the end the copy of the scalar outputs to the host.
  /// Every input must have been given before.
  void enqueue();
  /// Records the kernels, in the parts that set_gradients_final() asks for, for enqueue_recorded(),
  /// which replays them. Inputs must have been given before. Throws DeviceError where they cannot
  /// be recorded.
  void record();
  void enqueue_recorded();
  /// enqueue() and waits.
  void run();

  /// Stands for an output of one f32 or f64.
  enum class Scalar : std::size_t {};
  [[nodiscard]] Scalar scalar(const std::string& output) const;
  /// Its value in the last run, which has to be done.
  [[nodiscard]] double value(Scalar scalar) const;
  [[nodiscard]] double read_scalar(const std::string& output) const {
    return value(scalar(output));
  }

  /// A step of the plan and the memory it works on.
  struct ObservedStep {
    const Step& step;
    std::span<const TensorView> inputs;
    std::span<const TensorView> outputs;
  };
  /// What looks at a run: before each step, whose inputs may be overwritten by its outputs, and
  /// after it. Nothing runs meanwhile.
  struct Observer {
    std::function<void(const ObservedStep&)> before;
    std::function<void(const ObservedStep&)> after;
    /// So many steps run, or as many as there are; what the others write is left as it is.
    std::size_t steps = std::numeric_limits<std::size_t>::max();
  };
  /// Runs, waiting for each kernel.
  void run_observed(const Observer& observer);

  /// The flat regions of trainable variables and their gradients: equal offsets, elements of one
  /// type, in the order in which the gradients become final.
  [[nodiscard]] TensorView variables();
  [[nodiscard]] TensorView gradients();
  /// What segments() has offsets of copies in.
  [[nodiscard]] TensorView copies();
  [[nodiscard]] DType trained_dtype() const;
  [[nodiscard]] const std::vector<OptimizerSegment>& segments() const;

  /// enqueue() with an event before the first kernel and behind each, for step_times() once it is
  /// done. Kernels that are launched without events between them may take less together.
  void enqueue_timed();
  /// When a step of the plan was begun and done, in the last such run, from its beginning.
  struct StepTime {
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
  };
  /// One per step of the plan; enqueue_timed() has to be done.
  [[nodiscard]] std::vector<StepTime> step_times() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
