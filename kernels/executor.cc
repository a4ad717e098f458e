#include "kernels/executor.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/runtime/bound_inputs.h"
#include "kernels/runtime/bound_plan.h"
#include "kernels/runtime/conversions.h"
#include "kernels/runtime/poison.h"
#include "kernels/runtime/recorded_parts.h"
#include "models/base/errors.h"

namespace bench {
struct Executor::State {
  State(const Graph& original, Backend& device, const ExecutorOptions& options)
      : backend(device),
        plan(original, device, options.lowering(), options.poison ? Poison::kGuardBytes : 0),
        bound(admitted(options), device),
        stream(device.make_stream()),
        inputs(plan, bound, device, *stream),
        conversions(device, *stream),
        results(device.allocate_staging(plan.memory.results)) {
    if (options.poison) {
      poison.emplace(plan, bound);
    }
    find_scalars();
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { finish(*stream); }

  const Plan& admitted(const ExecutorOptions& options) const {
    if (options.admit) {
      options.admit(plan);
    }
    return plan;
  }

  [[nodiscard]] const Buffer& buffer(std::size_t index) const {
    return plan.lowered.buffers[index];
  }

  void find_scalars() {
    for (const auto& [name, id] : plan.graph.outputs()) {
      const std::size_t index = plan.lowered.buffer_of[at(id)];
      const Buffer& entry = buffer(index);
      if (entry.region == Buffer::Region::activation && is_floating(entry.type.dtype) &&
          plan.memory.offsets[index] < plan.memory.results) {
        scalars.push_back(
            {.name = name, .dtype = entry.type.dtype, .offset = plan.memory.offsets[index]});
      }
    }
  }

  [[nodiscard]] DType trained_dtype() const { return bench::trained_dtype(plan); }

  /// The size up to the end of the last segment.
  [[nodiscard]] std::size_t flat_bytes() const {
    return segments.empty()
               ? 0
               : (segments.back().offset + segments.back().count) * size_of(trained_dtype());
  }

  [[nodiscard]] std::size_t variable_buffer(const std::string& name) const {
    for (const Variable& variable : plan.graph.variables()) {
      if (plan.graph.value(variable.value).name == name) {
        return plan.lowered.buffer_of[at(variable.value)];
      }
    }
    throw InternalError(fmt::format("executor: unknown variable {}", name));
  }

  /// Null if the variable is not trained.
  [[nodiscard]] const LoweredGraph::Trained* find_trained(std::size_t variable) const {
    const auto& all = plan.lowered.trained;
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const auto& trained) { return trained.variable == variable; });
    return found == all.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::size_t gradient_buffer(const std::string& variable) const {
    const LoweredGraph::Trained* trained = find_trained(variable_buffer(variable));
    check(trained != nullptr, fmt::format("executor: {} has no gradient", variable));
    return trained->gradient;
  }

  [[nodiscard]] const Buffer& trained_variable(std::size_t segment) const {
    return buffer(plan.lowered.trained[segment].variable);
  }

  void enqueue_refresh(std::size_t r) {
    BoundStep& step = bound.refreshes()[r];
    step.kernel->launch(*stream, step.inputs, step.outputs, nullptr);
  }

  /// Recomputes the copies of a variable; waits.
  void refresh(std::size_t variable) {
    for (std::size_t r = 0; r < bound.refreshes().size(); ++r) {
      if (plan.lowered.refreshes[r].inputs[0] == variable) {
        enqueue_refresh(r);
        stream->synchronize();
      }
    }
  }

  [[nodiscard]] std::size_t output_buffer(const std::string& name) const {
    return plan.lowered.buffer_of[at(plan.graph.output(name))];
  }

  /// In canonical order, with elements of type `dtype`.
  template <class T>
  std::vector<T> read(std::size_t index, DType dtype, std::vector<T> result = {}) {
    check(buffer(index).region != Buffer::Region::input,
          fmt::format("executor: {} is an input and cannot be read as an output",
                      buffer(index).name));
    result.resize(conversions.bytes(buffer(index), dtype) / sizeof(T));
    conversions.read(buffer(index), bound.view(index), dtype,
                     std::as_writable_bytes(std::span(result)));
    return result;
  }
  std::vector<std::byte> read_bytes(std::size_t index) {
    return read<std::byte>(index, buffer(index).type.dtype);
  }

  /// Reports the gradients for which step `s` was the last to read or write.
  void announce(std::size_t s) {
    const auto& trained = plan.lowered.trained;
    const std::size_t first = announced;
    while (announced < trained.size() && trained[announced].final_step <= s) {
      ++announced;
    }
    if (first < announced && gradients_final) {
      gradients_final(first, announced);
    }
  }

  void launch(std::size_t s) {
    if (cancelled && cancelled()) {
      throw Cancelled("the run was cancelled");
    }
    BoundStep& step = bound.steps()[s];
    step.kernel->launch(*stream, step.inputs, step.outputs, bound.workspace().data);
  }

  void enqueue(bool timed) {
    inputs.check_given();
    announced = 0;
    if (poison) {
      poison->spread(*stream);
    }
    if (timed) {
      stream->record(*events[0]);
    }
    for (std::size_t s = 0; s < bound.steps().size(); ++s) {
      launch(s);
      if (timed) {
        stream->record(*events[s + 1]);
      }
      announce(s);
    }
    fetch_results();
    if (poison) {
      poison->check_guards(*stream);
    }
  }

  void fetch_results() const {
    stream->download(bound.activations().data, {results->data(), plan.memory.results});
  }

  struct ScalarPlace {
    std::string name;
    DType dtype = DType::f32;
    /// Offset from the beginning of the activations, and of `results`.
    std::size_t offset = 0;
  };

  Backend& backend;
  Plan plan;
  BoundPlan bound;
  std::unique_ptr<Stream> stream;
  BoundInputs inputs;
  Conversions conversions;
  std::optional<Poison> poison;
  std::function<bool()> cancelled = {};
  GradientsFinal gradients_final;
  std::vector<std::size_t> gradient_parts;
  /// None before record().
  std::vector<RecordedPart> parts;
  /// Gradients of this run that were reported.
  std::size_t announced = 0;
  const std::vector<OptimizerSegment> segments = optimizer_segments(plan);
  std::vector<ScalarPlace> scalars;
  /// One before the first step of a timed run and one after each; empty before the first timed run.
  std::vector<std::unique_ptr<Event>> events;
  /// The host's copy of the scalar outputs.
  std::unique_ptr<DeviceMemory> results;
};

Executor::Executor(const Graph& graph, Backend& backend, const ExecutorOptions& options)
    : state_(std::make_unique<State>(graph, backend, options)) {}

Executor::~Executor() = default;

const Graph& Executor::graph() const { return state_->plan.graph; }
const LoweredGraph& Executor::plan() const { return state_->plan.lowered; }
const MemoryReport& Executor::memory() const { return state_->plan.memory.report; }
Stream& Executor::stream() { return *state_->stream; }

Executor::Input Executor::input(const std::string& name) const {
  return static_cast<Input>(state_->inputs.find(name));
}

const Layout& Executor::input_layout(const std::string& name) const {
  return state_->inputs.buffer(state_->inputs.find(name)).layout;
}

void Executor::feed(Input input, std::span<const std::byte> host, const ContentId& content) {
  state_->inputs.feed(static_cast<std::size_t>(input), host, content);
}

void Executor::feed_pixels(Input input, std::span<const std::uint8_t> host,
                           const ContentId& content) {
  state_->inputs.feed_pixels(static_cast<std::size_t>(input), host, content);
}

void Executor::begin_ahead() { state_->inputs.begin_ahead(); }
void Executor::take_ahead() { state_->inputs.take_ahead(); }
std::chrono::nanoseconds Executor::transfer_time() { return state_->inputs.transfer_time(); }

void Executor::place(Input input, void* device) {
  state_->inputs.place(static_cast<std::size_t>(input), device);
}

void Executor::write_input(const std::string& name, std::span<const std::byte> canonical) {
  const std::size_t place = state_->inputs.find(name);
  const Buffer& buffer = state_->inputs.buffer(place);
  state_->conversions.write(buffer, state_->inputs.own_memory(place), buffer.type.dtype, canonical);
}

std::vector<float> Executor::read_input(const std::string& name) {
  const std::size_t place = state_->inputs.find(name);
  const Buffer& buffer = state_->inputs.buffer(place);
  std::vector<float> values(state_->conversions.bytes(buffer, DType::f32) / sizeof(float));
  state_->conversions.read(buffer, state_->inputs.own_memory(place), DType::f32,
                           std::as_writable_bytes(std::span(values)));
  return values;
}

void Executor::write_variable(const std::string& name, std::span<const float> canonical) {
  const std::size_t buffer = state_->variable_buffer(name);
  state_->conversions.write(state_->buffer(buffer), state_->bound.view(buffer), DType::f32,
                            std::as_bytes(canonical));
  state_->refresh(buffer);
}

void Executor::write_variable_bytes(const std::string& name, std::span<const std::byte> canonical) {
  const std::size_t buffer = state_->variable_buffer(name);
  state_->conversions.write(state_->buffer(buffer), state_->bound.view(buffer),
                            state_->buffer(buffer).type.dtype, canonical);
  state_->refresh(buffer);
}

std::vector<std::byte> Executor::read_variable_bytes(const std::string& name) {
  return state_->read_bytes(state_->variable_buffer(name));
}

void Executor::renew_copies() {
  for (std::size_t r = 0; r < state_->bound.refreshes().size(); ++r) {
    state_->enqueue_refresh(r);
  }
}

std::vector<float> Executor::read_variable(const std::string& name, std::vector<float> reused) {
  return state_->read<float>(state_->variable_buffer(name), DType::f32, std::move(reused));
}

std::vector<Executor::Copy> Executor::read_copies(const std::string& variable) {
  std::vector<Copy> copies;
  if (const auto* trained = state_->find_trained(state_->variable_buffer(variable))) {
    for (const auto& copy : trained->copies) {
      copies.push_back({.dtype = state_->buffer(copy.buffer).type.dtype,
                        .values = state_->read<float>(copy.buffer, DType::f32)});
    }
  }
  return copies;
}

std::vector<float> Executor::read_gradient(const std::string& variable, std::vector<float> reused) {
  return state_->read<float>(state_->gradient_buffer(variable), DType::f32, std::move(reused));
}

std::vector<float> Executor::read_output_as_floats(const std::string& name) {
  return state_->read<float>(state_->output_buffer(name), DType::f32);
}

std::vector<std::byte> Executor::read_output(const std::string& name) {
  return state_->read_bytes(state_->output_buffer(name));
}

std::vector<std::byte> Executor::read_gradient_bytes(const std::string& variable) {
  return state_->read_bytes(state_->gradient_buffer(variable));
}

void Executor::enqueue() { state_->enqueue(/*timed=*/false); }

void Executor::enqueue_timed() {
  while (state_->events.size() <= state_->bound.steps().size()) {
    state_->events.push_back(state_->backend.make_event());
  }
  state_->enqueue(/*timed=*/true);
}

std::vector<Executor::StepTime> Executor::step_times() const {
  const auto& events = state_->events;
  std::vector<StepTime> times;
  for (std::size_t s = 0; s + 1 < events.size(); ++s) {
    times.push_back(
        {.begin = events[s]->since(*events[0]), .end = events[s + 1]->since(*events[0])});
  }
  return times;
}

void Executor::record() {
  State& state = *state_;
  state.inputs.check_given();
  check(!state.poison, "executor: a run with poisoned memory cannot be recorded");
  const auto launch = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      state.launch(begin);
    }
    if (end == state.bound.steps().size()) {
      state.fetch_results();
    }
  };
  state.parts = record_parts(*state.stream, state.plan.lowered, state.gradient_parts, launch);
}

void Executor::enqueue_recorded() {
  check(!state_->parts.empty(), "executor: nothing was recorded");
  state_->announced = 0;
  for (const RecordedPart& part : state_->parts) {
    state_->stream->replay(*part.kernels);
    state_->announce(part.end - 1);
  }
}

void Executor::set_gradients_final(GradientsFinal gradients_final, std::vector<std::size_t> parts) {
  state_->gradients_final = std::move(gradients_final);
  state_->gradient_parts = std::move(parts);
  state_->parts.clear();
}

void Executor::set_cancelled(std::function<bool()> cancelled) {
  state_->cancelled = std::move(cancelled);
}

void Executor::run() {
  enqueue();
  state_->stream->synchronize();
}

Executor::Scalar Executor::scalar(const std::string& output) const {
  const auto& scalars = state_->scalars;
  const auto found = std::find_if(scalars.begin(), scalars.end(),
                                  [&](const auto& scalar) { return scalar.name == output; });
  check(found != scalars.end(), fmt::format("executor: unknown scalar output {}", output));
  return static_cast<Scalar>(found - scalars.begin());
}

double Executor::value(Scalar scalar) const {
  const auto& place = state_->scalars[static_cast<std::size_t>(scalar)];
  check(place.dtype == DType::f32 || place.dtype == DType::f64,
        "executor: the scalar is neither f32 nor f64");
  const auto read = [&](auto value) {
    std::memcpy(&value, state_->results->data() + place.offset, sizeof value);
    return static_cast<double>(value);
  };
  return place.dtype == DType::f32 ? read(0.0F) : read(0.0);
}

void Executor::run_observed(const Observer& observer) {
  State& state = *state_;
  state.inputs.check_given();
  std::vector<BoundStep>& steps = state.bound.steps();
  state.stream->synchronize();
  for (std::size_t s = 0; s < std::min(observer.steps, steps.size()); ++s) {
    BoundStep& bound = steps[s];
    const ObservedStep step{
        .step = state.plan.lowered.steps[s], .inputs = bound.inputs, .outputs = bound.outputs};
    observer.before(step);
    state.launch(s);
    state.stream->synchronize();
    observer.after(step);
  }
  state.fetch_results();
  state.stream->synchronize();
}

TensorView Executor::variables() {
  return {.data = state_->bound.variables().data, .bytes = state_->flat_bytes()};
}

TensorView Executor::gradients() {
  return {.data = state_->bound.gradients().data, .bytes = state_->flat_bytes()};
}

TensorView Executor::copies() { return state_->bound.copies(); }

DType Executor::trained_dtype() const { return state_->trained_dtype(); }

const std::vector<OptimizerSegment>& Executor::segments() const { return state_->segments; }

std::span<const std::int32_t> Executor::sparse_rows(std::size_t segment) const {
  const auto& step = state_->plan.lowered.trained[segment].sparse_step;
  check(step.has_value(), "executor: the gradient is not sparse");
  return state_->bound.steps()[*step].kernel->written_rows();
}

const std::string& Executor::segment_name(std::size_t segment) const {
  return state_->trained_variable(segment).name;
}

std::vector<std::byte> Executor::read_segment(std::size_t segment, void* memory) {
  const Buffer& variable = state_->trained_variable(segment);
  const DType dtype = variable.type.dtype;
  std::vector<std::byte> canonical(state_->conversions.bytes(variable, dtype));
  state_->conversions.read(variable, {.data = memory, .bytes = variable.bytes}, dtype, canonical);
  return canonical;
}

void Executor::write_segment(std::size_t segment, void* memory,
                             std::span<const std::byte> canonical) {
  const Buffer& variable = state_->trained_variable(segment);
  state_->conversions.write(variable, {.data = memory, .bytes = variable.bytes},
                            variable.type.dtype, canonical);
}

}  // namespace bench
