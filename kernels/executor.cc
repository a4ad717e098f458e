#include "kernels/executor.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "models/base/errors.h"
#include "models/passes/decompose.h"

namespace bench {
namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr std::byte kGuardPattern{0xA5};
constexpr std::byte kPoison{0xFF};

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

struct BoundStep {
  std::unique_ptr<Kernel> kernel;
  std::vector<TensorView> inputs;
  std::vector<TensorView> outputs;
};

using Clock = std::chrono::steady_clock;

}  // namespace

struct Executor::State {
  State(const Graph& original, Backend& device, const ExecutorOptions& chosen)
      : options(chosen),
        backend(device),
        graph(runnable(original, device)),
        lowered(lower(graph, device, chosen.format)),
        layout(lay_out_memory(lowered, kept_buffers(graph, lowered), guard())),
        stream(device.make_stream()) {
    if (options.admit) {
      options.admit(layout.report);
    }
    allocate();
    bind();
  }

  [[nodiscard]] std::size_t guard() const { return options.poison ? kGuardBytes : 0; }

  static std::vector<std::size_t> kept_buffers(const Graph& graph, const LoweredGraph& lowered) {
    std::vector<std::size_t> kept;
    for (const auto& [name, id] : graph.outputs()) {
      kept.push_back(lowered.buffer_of[at(id)]);
    }
    return kept;
  }

  void allocate() {
    variables = backend.allocate(layout.report.variables);
    gradients = backend.allocate(layout.report.gradients);
    activations = backend.allocate(layout.report.activations);
    workspace = backend.allocate(layout.report.workspace);
    for (const auto& trained : lowered.trained) {
      const Buffer& variable = lowered.buffers[trained.variable];
      check(variable.type.dtype == trained_dtype(), "executor: variables of several types");
      segments.push_back({.offset = layout.offsets[trained.variable] / size_of(trained_dtype()),
                          .count = variable.bytes / size_of(trained_dtype()),
                          .decayed = trained.decayed});
    }
  }

  [[nodiscard]] DType trained_dtype() const {
    return lowered.trained.empty() ? DType::f32
                                   : lowered.buffers[lowered.trained.front().variable].type.dtype;
  }

  /// Up to the end of the last segment.
  [[nodiscard]] std::size_t flat_bytes() const {
    return segments.empty()
               ? 0
               : (segments.back().offset + segments.back().count) * size_of(trained_dtype());
  }

  [[nodiscard]] TensorView view(std::size_t buffer) const {
    const Buffer& entry = lowered.buffers[buffer];
    std::byte* base = nullptr;
    switch (entry.region) {
      case Buffer::Region::input:
        return {.data = nullptr, .bytes = entry.bytes};
      case Buffer::Region::variable:
        base = variables->data();
        break;
      case Buffer::Region::gradient:
        base = gradients->data();
        break;
      case Buffer::Region::activation:
        base = activations->data();
        break;
    }
    return {.data = base + layout.offsets[buffer], .bytes = entry.bytes};
  }

  void bind() {
    for (const Step& step : lowered.steps) {
      BoundStep bound{.kernel = step.make(), .inputs = {}, .outputs = {}};
      for (const std::size_t buffer : step.inputs) {
        bound.inputs.push_back(view(buffer));
      }
      for (const std::size_t buffer : step.outputs) {
        bound.outputs.push_back(view(buffer));
      }
      steps.push_back(std::move(bound));
    }
    step_times.resize(steps.size());
  }

  [[nodiscard]] std::size_t input_buffer(const std::string& name) const {
    for (const ValueId id : graph.inputs()) {
      if (graph.value(id).name == name) {
        return lowered.buffer_of[at(id)];
      }
    }
    throw InternalError(cat("executor: no input is named ", name));
  }

  [[nodiscard]] std::size_t variable_buffer(const std::string& name) const {
    for (const Variable& variable : graph.variables()) {
      if (graph.value(variable.value).name == name) {
        return lowered.buffer_of[at(variable.value)];
      }
    }
    throw InternalError(cat("executor: no variable is named ", name));
  }

  [[nodiscard]] std::size_t gradient_buffer(const std::string& variable) const {
    const std::size_t home = variable_buffer(variable);
    for (const auto& trained : lowered.trained) {
      if (trained.variable == home) {
        return trained.gradient;
      }
    }
    throw InternalError(cat("executor: ", variable, " has no gradient"));
  }

  void bind_input(std::size_t buffer, const void* data) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      for (std::size_t i = 0; i < steps[s].inputs.size(); ++i) {
        if (lowered.steps[s].inputs[i] == buffer) {
          // Kernels only read their inputs.
          steps[s].inputs[i].data = const_cast<void*>(data);  // NOLINT(*-const-cast)
        }
      }
    }
    bound_inputs[buffer] = true;
  }

  /// Throws InternalError unless every input was bound; looks once only.
  void check_inputs() {
    if (inputs_checked) {
      return;
    }
    for (const ValueId id : graph.inputs()) {
      check(bound_inputs.count(lowered.buffer_of[at(id)]) != 0,
            cat("executor: input ", graph.value(id).name, " is not bound"));
    }
    inputs_checked = true;
  }

  void convert(TensorView from, const Placed& from_place, TensorView to, const Placed& to_place) {
    const auto kernel = backend.make_reorder(from_place, to_place);
    kernel->launch(*stream, std::span(&from, 1), std::span(&to, 1), nullptr);
    stream->synchronize();
  }

  /// A buffer's place in canonical order, of elements of `dtype`.
  [[nodiscard]] Placed canonical(const Buffer& buffer, DType dtype) const {
    const TensorType type{.dtype = dtype, .shape = buffer.type.shape};
    return {.type = type, .layout = backend.canonical_layout(type)};
  }

  /// In canonical order, each element of the type that `dtype` is.
  template <class T>
  void read(std::size_t buffer, DType dtype, std::vector<T>& result) {
    const Buffer& entry = lowered.buffers[buffer];
    check(!entry.type.opaque && entry.region != Buffer::Region::input,
          cat("executor: ", entry.name, " is opaque or an input and cannot be read"));
    const Placed place = canonical(entry, dtype);
    const std::size_t bytes = backend.bytes(place.type, place.layout);
    result.resize(bytes / sizeof(T));
    convert(view(buffer), {.type = entry.type, .layout = entry.layout},
            {.data = result.data(), .bytes = bytes}, place);
  }
  std::vector<std::byte> read(std::size_t buffer) {
    std::vector<std::byte> bytes;
    read(buffer, lowered.buffers[buffer].type.dtype, bytes);
    return bytes;
  }
  std::vector<float> read_floats(std::size_t buffer) {
    std::vector<float> floats;
    read(buffer, DType::f32, floats);
    return floats;
  }

  /// From canonical order, the elements being of type `dtype`.
  void write(std::size_t buffer, TensorView target, std::span<const std::byte> elements,
             DType dtype) {
    const Buffer& entry = lowered.buffers[buffer];
    const Placed place = canonical(entry, dtype);
    const std::size_t expected = backend.bytes(place.type, place.layout);
    check(elements.size() == expected,
          cat("executor: ", entry.name, " takes ", expected, " bytes, given ", elements.size()));
    // The reorder only reads its input.
    void* source = const_cast<std::byte*>(elements.data());  // NOLINT(*-const-cast)
    convert({.data = source, .bytes = elements.size()}, place, target,
            {.type = entry.type, .layout = entry.layout});
  }

  /// Fills what no run may read before it wrote it, and the guards behind every buffer.
  void poison() {
    std::memset(gradients->data(), static_cast<int>(kPoison), layout.report.gradients);
    std::memset(activations->data(), static_cast<int>(kPoison), layout.report.activations);
    std::memset(workspace->data(), static_cast<int>(kPoison), layout.report.workspace);
    for_each_guard([](std::byte* guard) {
      std::memset(guard, static_cast<int>(kGuardPattern), kGuardBytes);
      return true;
    });
  }

  void check_guards() {
    for_each_guard([](const std::byte* guard) {
      return std::all_of(guard, guard + kGuardBytes,
                         [](std::byte b) { return b == kGuardPattern; });
    });
  }

  template <class F>
  void for_each_guard(const F& f) {
    // Guards of activations are other tensors' memory at other times; regions that live throughout
    // can be checked.
    for (std::size_t b = 0; b < lowered.buffers.size(); ++b) {
      const Buffer& entry = lowered.buffers[b];
      if (entry.region == Buffer::Region::variable || entry.region == Buffer::Region::gradient) {
        std::byte* end = view(b).as<std::byte>() + entry.bytes;
        check(f(end), cat("executor: something wrote behind ", entry.name));
      }
    }
  }

  ExecutorOptions options;
  Backend& backend;
  Graph graph;
  LoweredGraph lowered;
  MemoryLayout layout;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<DeviceMemory> variables;
  std::unique_ptr<DeviceMemory> gradients;
  std::unique_ptr<DeviceMemory> activations;
  std::unique_ptr<DeviceMemory> workspace;
  std::vector<OptimizerSegment> segments;
  std::vector<BoundStep> steps;
  std::map<std::size_t, bool> bound_inputs;
  bool inputs_checked = false;
  std::map<std::size_t, std::unique_ptr<DeviceMemory>> own_inputs;
  std::vector<StepTime> step_times;
};

Executor::Executor(const Graph& graph, Backend& backend, const ExecutorOptions& options)
    : state_(std::make_unique<State>(graph, backend, options)) {}

Executor::~Executor() = default;

Graph Executor::runnable(const Graph& graph, const Backend& backend) {
  return decompose_unsupported(
      graph, [&](const Graph& around, const Node& node) { return backend.supports(around, node); });
}

MemoryReport Executor::predict(const Graph& graph, Backend& backend, DataFormat format) {
  const Graph parts = runnable(graph, backend);
  const LoweredGraph lowered = lower(parts, backend, format);
  return lay_out_memory(lowered, State::kept_buffers(parts, lowered), 0).report;
}

const Graph& Executor::graph() const { return state_->graph; }
const LoweredGraph& Executor::plan() const { return state_->lowered; }
const MemoryReport& Executor::memory() const { return state_->layout.report; }

void Executor::bind_input(const std::string& name, const void* data) {
  state_->bind_input(state_->input_buffer(name), data);
}

const Layout& Executor::input_layout(const std::string& name) const {
  return state_->lowered.buffers[state_->input_buffer(name)].layout;
}

void Executor::write_input(const std::string& name, std::span<const std::byte> canonical) {
  const std::size_t buffer = state_->input_buffer(name);
  auto& memory = state_->own_inputs[buffer];
  const std::size_t bytes = state_->lowered.buffers[buffer].bytes;
  if (memory == nullptr) {
    memory = state_->backend.allocate(bytes);
  }
  state_->bind_input(buffer, memory->data());
  state_->write(buffer, {.data = memory->data(), .bytes = bytes}, canonical,
                state_->lowered.buffers[buffer].type.dtype);
}

void Executor::write_variable(const std::string& name, std::span<const float> canonical) {
  const std::size_t buffer = state_->variable_buffer(name);
  state_->write(buffer, state_->view(buffer), std::as_bytes(canonical), DType::f32);
}

std::vector<float> Executor::read_variable(const std::string& name) {
  return state_->read_floats(state_->variable_buffer(name));
}

std::vector<std::byte> Executor::read_output(const std::string& name) {
  return state_->read(state_->lowered.buffer_of[at(state_->graph.output(name))]);
}

std::vector<float> Executor::read_output_as_floats(const std::string& name) {
  return state_->read_floats(state_->lowered.buffer_of[at(state_->graph.output(name))]);
}

std::vector<float> Executor::read_gradient(const std::string& variable) {
  return state_->read_floats(state_->gradient_buffer(variable));
}

void Executor::read_variable(const std::string& name, std::vector<float>& canonical) {
  state_->read(state_->variable_buffer(name), DType::f32, canonical);
}

void Executor::read_gradient(const std::string& variable, std::vector<float>& canonical) {
  state_->read(state_->gradient_buffer(variable), DType::f32, canonical);
}

std::vector<std::byte> Executor::read_gradient_bytes(const std::string& variable) {
  return state_->read(state_->gradient_buffer(variable));
}

double Executor::read_scalar(const std::string& name) {
  const std::size_t buffer = state_->lowered.buffer_of[at(state_->graph.output(name))];
  const TensorType& type = state_->lowered.buffers[buffer].type;
  check(type.shape.elements() == 1, "executor: no scalar is read");
  const TensorView view = state_->view(buffer);
  if (type.dtype == DType::f64) {
    return *view.as<const double>();
  }
  check(type.dtype == DType::f32, "executor: the scalar is no floating number");
  return *view.as<const float>();
}

void Executor::run(Stream& stream) {
  State& state = *state_;
  state.check_inputs();
  if (state.options.poison) {
    state.poison();
  }
  void* const workspace = state.workspace->data();
  for (std::size_t s = 0; s < state.steps.size(); ++s) {
    BoundStep& step = state.steps[s];
    StepTime& time = state.step_times[s];
    time.begin = Clock::now();
    step.kernel->launch(stream, step.inputs, step.outputs, workspace);
    time.end = Clock::now();
    time.total += time.end - time.begin;
  }
  stream.synchronize();
  if (state.options.poison) {
    state.check_guards();
  }
}

void Executor::run_observed(Stream& stream, const Observer& observer) {
  State& state = *state_;
  state.check_inputs();
  for (std::size_t s = 0; s < std::min(observer.steps, state.steps.size()); ++s) {
    BoundStep& bound = state.steps[s];
    const ObservedStep step{
        .step = state.lowered.steps[s], .inputs = bound.inputs, .outputs = bound.outputs};
    observer.before(step);
    bound.kernel->launch(stream, bound.inputs, bound.outputs, state.workspace->data());
    stream.synchronize();
    observer.after(step);
  }
}

TensorView Executor::variables() {
  return {.data = state_->variables->data(), .bytes = state_->flat_bytes()};
}

TensorView Executor::gradients() {
  return {.data = state_->gradients->data(), .bytes = state_->flat_bytes()};
}

DType Executor::trained_dtype() const { return state_->trained_dtype(); }

const std::vector<OptimizerSegment>& Executor::segments() const { return state_->segments; }

std::span<const Executor::StepTime> Executor::step_times() const { return state_->step_times; }

std::chrono::nanoseconds Executor::kernel_time() const {
  std::chrono::nanoseconds sum{};
  for (const StepTime& time : state_->step_times) {
    sum += time.total;
  }
  return sum;
}

void Executor::reset_kernel_time() {
  for (StepTime& time : state_->step_times) {
    time.total = {};
  }
}

}  // namespace bench
