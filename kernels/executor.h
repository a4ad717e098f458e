#pragma once

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

struct ExecutorOptions {
  DataFormat format = DataFormat::automatic;
  /// Same as in LoweringOptions; only the constructor uses them.
  const Choices* pinned = nullptr;
  Tuner tuner = {};
  bool deterministic = false;
  std::string_view pixels = {};
  /// For tests. Before each run everything but inputs and variables is filled with NaN bytes.
  /// Afterwards guard bytes after every variable and gradient are checked (InternalError). Every
  /// run waits for that.
  bool poison = false;
  /// Receives the plan before any allocation and throws if it needs too much; may be empty.
  std::function<void(const Plan&)> admit = {};

  [[nodiscard]] LoweringOptions lowering() const {
    return {.format = format,
            .pinned = pinned,
            .tuner = tuner,
            .deterministic = deterministic,
            .pixels = pixels};
  }
};

/// A plan with its kernels and memory, which are created once, on one device with one main stream.
/// A run performs no lookup, allocates nothing and creates no primitive.
class Executor {
 public:
  Executor(const Graph& graph, Backend& backend, const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// The graph that actually runs.
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const LoweredGraph& plan() const;
  [[nodiscard]] const MemoryReport& memory() const;
  [[nodiscard]] Stream& stream();

  /// Identifies a graph input in the calls below.
  enum class Input : std::size_t {};
  [[nodiscard]] Input input(const std::string& name) const;
  /// The layout that the plan requires for an input.
  [[nodiscard]] const Layout& input_layout(const std::string& name) const;
  /// Sets a graph input for the following runs, from memory of the host in its layout. The memory
  /// must stay unchanged until those runs are done. If the device does not share the host's memory,
  /// a separate stream copies it while earlier runs continue. The copy is skipped if the last one
  /// had the same `content` and memory.
  void feed(Input input, std::span<const std::byte> host, const ContentId& content = {});
  /// The same for an input's pixels of images, u8 in NHWC. The device normalises them like those of
  /// all datasets (Backend::make_normalization) into the executor's memory. The input named in
  /// ExecutorOptions::pixels must only be fed this way.
  void feed_pixels(Input input, std::span<const std::uint8_t> host, const ContentId& content = {});
  /// For devices that do not share the host's memory. Between these two calls, feeds only transfer
  /// data; work enqueued meanwhile neither sees nor awaits it. Runs after the second call see it.
  void begin_ahead();
  void take_ahead();
  /// The time of the transfers since the last call, on the device's clock; 0 if the device shares
  /// the host's memory. The runs that see their data must be complete. The first call returns 0 and
  /// begins to time them.
  [[nodiscard]] std::chrono::nanoseconds transfer_time();
  /// The same with the caller's memory on the device; a run uses the contents at its beginning.
  void place(Input input, void* device);
  /// Copies a graph input in canonical order into the executor's memory; waits.
  void write_input(const std::string& name, std::span<const std::byte> canonical);
  /// Returns what write_input() or feed_pixels() last set, in canonical order, converted to f32;
  /// waits.
  [[nodiscard]] std::vector<float> read_input(const std::string& name);

  /// Copies a variable from or to canonical order, converting from and to f32 (an s8 variable takes
  /// whole numbers); waits. Writing also updates its copies.
  void write_variable(const std::string& name, std::span<const float> canonical);
  /// Reuses the given vector, if any, as the result, so that a series of reads needs no fresh
  /// pages.
  [[nodiscard]] std::vector<float> read_variable(const std::string& name,
                                                 std::vector<float> reused = {});
  /// The same in the variable's own type.
  void write_variable_bytes(const std::string& name, std::span<const std::byte> canonical);
  [[nodiscard]] std::vector<std::byte> read_variable_bytes(const std::string& name);
  /// Enqueues an update of all 16-bit copies of the variables, for callers that write variables()
  /// directly.
  void renew_copies();
  /// A 16-bit copy of a trained variable, in canonical order.
  struct Copy {
    DType dtype = DType::bf16;
    std::vector<float> values;
  };
  /// All copies of a variable; waits.
  [[nodiscard]] std::vector<Copy> read_copies(const std::string& variable);
  /// An output or the gradient of a variable, from the last run in canonical order; waits. An
  /// output has its own type or is converted to f32; a gradient is converted too.
  [[nodiscard]] std::vector<std::byte> read_output(const std::string& name);
  [[nodiscard]] std::vector<float> read_output_as_floats(const std::string& name);
  [[nodiscard]] std::vector<float> read_gradient(const std::string& variable,
                                                 std::vector<float> reused = {});
  /// The same in the variable's type.
  [[nodiscard]] std::vector<std::byte> read_gradient_bytes(const std::string& variable);

  /// Called in each run for gradients that are final as soon as the work enqueued so far is done.
  /// The arguments are indices into segments(), from `first` up to but excluding `last`. Each index
  /// is reported once, in order. Work that the callback enqueues on stream() precedes the kernels
  /// that follow. Initially empty.
  using GradientsFinal = std::function<void(std::size_t first, std::size_t last)>;
  /// A recorded run reports them only at the ends of its parts and at its end. A part ends at a
  /// number of final gradients in `parts`, whose entries must increase. Discards recordings.
  void set_gradients_final(GradientsFinal gradients_final, std::vector<std::size_t> parts = {});

  /// Once the function returns true, every run ends before its next kernel, with Cancelled. An
  /// empty function, the default, disables this. It is called before each kernel launch, but not
  /// while a recorded run is replayed.
  void set_cancelled(std::function<bool()> cancelled);

  /// Enqueues every kernel in order, and finally the copy of the scalar outputs to the host. Every
  /// input must have been set before.
  void enqueue();
  /// Records the kernels, in the parts that set_gradients_final() defines, for enqueue_recorded(),
  /// which replays them. Inputs must have been set before. Throws DeviceError if they cannot be
  /// recorded.
  void record();
  void enqueue_recorded();
  /// enqueue() and waits.
  void run();

  /// Identifies an output of one f32 or f64.
  enum class Scalar : std::size_t {};
  [[nodiscard]] Scalar scalar(const std::string& output) const;
  /// Its value in the last run, which must be done.
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
  /// Observes a run before each step, whose outputs may overwrite its inputs, and after it. No work
  /// runs during a call.
  struct Observer {
    std::function<void(const ObservedStep&)> before;
    std::function<void(const ObservedStep&)> after;
    /// Runs at most this many steps; the outputs of the others stay unchanged.
    std::size_t steps = std::numeric_limits<std::size_t>::max();
  };
  /// Runs, waiting for each kernel.
  void run_observed(const Observer& observer);

  /// The flat regions of trainable variables and their gradients. Both have equal offsets and one
  /// element type, in the order in which the gradients become final.
  [[nodiscard]] TensorView variables();
  [[nodiscard]] TensorView gradients();
  /// The region for the copies' offsets in segments().
  [[nodiscard]] TensorView copies();
  [[nodiscard]] DType trained_dtype() const;
  [[nodiscard]] const std::vector<OptimizerSegment>& segments() const;
  /// The rows of a sparse gradient that the last run wrote: distinct, in ascending order. All
  /// others are 0. The index is that of the segment in segments(), where sparse ones are last.
  [[nodiscard]] std::span<const std::int32_t> sparse_rows(std::size_t segment) const;
  /// The trained variable of that index in segments().
  [[nodiscard]] const std::string& segment_name(std::size_t segment) const;
  /// Copies memory of the device that is laid out like this variable, such as its part of an
  /// optimizer's slot. The copy is in canonical order and in the variable's type; waits.
  [[nodiscard]] std::vector<std::byte> read_segment(std::size_t segment, void* memory);
  void write_segment(std::size_t segment, void* memory, std::span<const std::byte> canonical);

  /// enqueue() with an event before the first kernel and after each, for step_times(). Kernels that
  /// are launched without events between them may take less time in total.
  void enqueue_timed();
  /// Begin and end of a plan's step in the last such run, relative to the run's beginning.
  struct StepTime {
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
  };
  /// One per step of the plan; enqueue_timed() must be done.
  [[nodiscard]] std::vector<StepTime> step_times() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
