#include "kernels/gpu_emulator/libraries/emulated_rnn_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "kernels/executor.h"
#include "kernels/gpu_emulator/libraries/emulated_elements.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

using Values = std::vector<double>;

/// x, w_x, w_h, b_x, b_h, or their gradients.
constexpr std::size_t kInputs = 5;

std::array<Shape, kInputs> shapes_of(const RnnProblem& problem) {
  const std::int64_t gates = gates_of(problem.cell);
  const Shape bias{problem.directions * gates * problem.units};
  return {Shape{problem.steps, problem.batch, problem.inputs},
          {problem.directions, gates, problem.units, problem.inputs},
          {problem.directions, gates, problem.units, problem.units},
          bias,
          bias};
}

std::int64_t outputs_of(const RnnProblem& problem) {
  return problem.steps * problem.batch * problem.directions * problem.units;
}

std::size_t y_bytes(const RnnProblem& problem) {
  return static_cast<std::size_t>(outputs_of(problem)) * size_of(problem.dtype);
}

constexpr std::size_t kAlignment = 512;

/// Unlike the op's order of weights: the last gate first, w_h before w_x. Gaps, except in f32.
RnnSpaces spaces_of(const RnnProblem& problem) {
  const std::size_t gap = problem.dtype == DType::f32 ? 0 : kAlignment;
  RnnSpaces spaces;
  const auto add = [&](std::int64_t elements) {
    const std::size_t begin = spaces.weights;
    spaces.weights += static_cast<std::size_t>(elements) * size_of(problem.dtype) + gap;
    return begin;
  };
  spaces.offsets.resize(2 * static_cast<std::size_t>(problem.directions * gates_of(problem.cell)));
  for (std::size_t i = spaces.offsets.size(); i-- > 0;) {
    const std::int64_t width = i % 2 == 1 ? problem.units : problem.inputs;
    spaces.offsets[i] = {.matrix = add(problem.units * width), .bias = add(problem.units)};
  }
  spaces.workspace = kAlignment;
  spaces.reserve = problem.training ? y_bytes(problem) : 0;
  return spaces;
}

/// Calls visit(input, first element there, elements, offset in the space) for all parts of weights.
template <class Visit>
void for_each_part(const RnnProblem& problem, const Visit& visit) {
  const RnnSpaces spaces = spaces_of(problem);
  for (std::size_t i = 0; i < spaces.offsets.size(); ++i) {
    const std::size_t hidden = i % 2;
    const auto block = static_cast<std::int64_t>(i / 2);
    const std::int64_t matrix = problem.units * (hidden == 1 ? problem.units : problem.inputs);
    visit(1 + hidden, block * matrix, matrix, spaces.offsets[i].matrix);
    visit(3 + hidden, block * problem.units, problem.units, spaces.offsets[i].bias);
  }
}

/// True if all bytes between the parts are 0. Like cuDNN, the emulated layers may read them.
bool gaps_are_clear(const RnnProblem& problem, const void* weights) {
  const auto* const bytes = static_cast<const std::byte*>(weights);
  std::vector<std::byte> gaps(bytes, bytes + spaces_of(problem).weights);
  for_each_part(problem, [&](std::size_t, std::int64_t, std::int64_t count, std::size_t offset) {
    std::fill_n(gaps.begin() + static_cast<std::ptrdiff_t>(offset),
                static_cast<std::size_t>(count) * size_of(problem.dtype), std::byte{});
  });
  return std::ranges::all_of(gaps, [](std::byte byte) { return byte == std::byte{}; });
}

/// The op's inputs, in double. x is NaN if the gaps are not clear.
std::vector<Values> inputs_of(const RnnProblem& problem, const void* x, const void* weights) {
  std::vector<Values> inputs;
  for (const Shape& shape : shapes_of(problem)) {
    inputs.emplace_back(static_cast<std::size_t>(shape.elements()));
  }
  inputs[0] = read_elements(x, problem.dtype, static_cast<std::int64_t>(inputs[0].size()));
  for_each_part(
      problem, [&](std::size_t input, std::int64_t begin, std::int64_t count, std::size_t offset) {
        const Values part =
            read_elements(static_cast<const std::byte*>(weights) + offset, problem.dtype, count);
        std::copy(part.begin(), part.end(), inputs[input].begin() + begin);
      });
  if (!gaps_are_clear(problem, weights)) {
    std::ranges::fill(inputs[0], std::numeric_limits<double>::quiet_NaN());
  }
  return inputs;
}

/// y, or, given dy, the gradients of all inputs.
std::vector<Values> compute(const RnnProblem& problem, const std::vector<Values>& inputs,
                            const Values* dy = nullptr) {
  Graph graph;
  const auto backend = make_reference_backend();
  const RnnAttributes attributes{.cell = problem.cell, .hidden_bias = true};
  std::vector<ValueId> ids;
  for (const Shape& shape : shapes_of(problem)) {
    ids.push_back(
        graph.add_input(fmt::format("{}", ids.size()), {.dtype = DType::f64, .shape = shape}));
  }
  std::vector<ValueId> results = graph.add_node(kRnn, "rnn", attributes, ids);
  if (dy != nullptr) {
    ids.insert(ids.begin(), graph.add_input("dy", graph.type(results[0])));
    ids.insert(ids.end(), results.begin(), results.end());
    results = graph.add_node(kRnnBackward, "backward", attributes, ids);
  } else {
    results.resize(1);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    graph.set_output(fmt::format("result {}", i), results[i]);
  }
  Executor executor(graph, *backend, {});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    executor.write_input(fmt::format("{}", i), std::as_bytes(std::span(inputs[i])));
  }
  if (dy != nullptr) {
    executor.write_input("dy", std::as_bytes(std::span(*dy)));
  }
  executor.run();
  std::vector<Values> values;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<std::byte> bytes = executor.read_output(fmt::format("result {}", i));
    values.emplace_back(bytes.size() / sizeof(double));
    std::memcpy(values.back().data(), bytes.data(), bytes.size());
  }
  return values;
}

void write(const Values& values, DType dtype, void* to) {
  const std::vector<float> rounded(values.begin(), values.end());
  write_elements(rounded, dtype, to);
}

constexpr int kNaNs = 0xff;
/// Fills the reserve between the two calls of the backward.
constexpr int kHalfUsed = 0x5a;

enum class Call : std::uint8_t { data, weights };

/// True if the reserve is as the call expects it: a copy of y, or the bytes that the first call
/// left.
bool has_reserve(const RnnProblem& problem, const RnnGradientMemory& memory, Call call) {
  const auto* const reserve = static_cast<const unsigned char*>(memory.reserve);
  if (call == Call::data) {
    return std::memcmp(reserve, memory.y, y_bytes(problem)) == 0;
  }
  return std::all_of(reserve, reserve + y_bytes(problem),
                     [](unsigned char byte) { return byte == kHalfUsed; });
}

void run_forward(const RnnProblem& problem, const RnnMemory& memory) {
  std::memset(memory.workspace, kNaNs, spaces_of(problem).workspace);
  write(compute(problem, inputs_of(problem, memory.x, memory.weights))[0], problem.dtype, memory.y);
  if (problem.training) {
    std::memcpy(memory.reserve, memory.y, y_bytes(problem));
  }
}

void run_backward(const RnnProblem& problem, const RnnGradientMemory& memory, Call call) {
  const bool valid = has_reserve(problem, memory, call);
  std::memset(memory.workspace, kNaNs, spaces_of(problem).workspace);
  std::memset(memory.reserve, call == Call::data ? kHalfUsed : kNaNs, y_bytes(problem));
  const Values dy = read_elements(memory.dy, problem.dtype, outputs_of(problem));
  std::vector<Values> gradients =
      compute(problem, inputs_of(problem, memory.x, memory.weights), &dy);
  if (!valid) {
    for (Values& gradient : gradients) {
      std::ranges::fill(gradient, std::numeric_limits<double>::quiet_NaN());
    }
  }
  if (call == Call::data) {
    write(gradients[0], problem.dtype, memory.dx);
    return;
  }
  for_each_part(problem,
                [&](std::size_t input, std::int64_t begin, std::int64_t count, std::size_t offset) {
                  void* const to = static_cast<std::byte*>(memory.dweights) + offset;
                  Values sums = read_elements(to, problem.dtype, count);
                  const auto added = gradients[input].begin() + begin;
                  std::transform(sums.begin(), sums.end(), added, sums.begin(), std::plus<>());
                  write(sums, problem.dtype, to);
                });
}

class EmulatedRnnPlan final : public RnnPlan {
 public:
  explicit EmulatedRnnPlan(const RnnProblem& problem) : problem_(problem) {}

  void forward(cudaStream_t stream, const RnnMemory& memory) override {
    emulator::enqueue(stream, "rnn",
                      [problem = problem_, memory] { run_forward(problem, memory); });
  }

  void backward(cudaStream_t stream, const RnnGradientMemory& memory) override {
    for (const Call call : {Call::data, Call::weights}) {
      emulator::enqueue(stream, "rnn backward", [problem = problem_, memory, call] {
        run_backward(problem, memory, call);
      });
    }
  }

 private:
  RnnProblem problem_;
};

class EmulatedRnnLayers final : public RnnLayers {
 public:
  RnnMethod method(const RnnProblem& problem) override {
    check(problem.cell != RnnCell::gru_reset_before, "emulated: no such GRU");
    return {.implementation = "emulated", .spaces = spaces_of(problem), .make = [problem] {
              return std::make_unique<EmulatedRnnPlan>(problem);
            }};
  }
};

}  // namespace

std::unique_ptr<RnnLayers> make_emulated_rnn_layers() {
  return std::make_unique<EmulatedRnnLayers>();
}

}  // namespace bench::cuda
