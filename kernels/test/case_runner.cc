#include "kernels/test/case_runner.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "models/base/errors.h"
#include "models/base/half.h"
#include "models/ops/activation.h"
#include "models/ops/cast.h"
#include "models/ops/pool.h"
#include "models/ops/rnn.h"
#include "models/passes/graph_copy.h"
#include "models/passes/mixed_precision.h"

namespace bench {
namespace {

template <class Half>
std::vector<double> values_of_halves(std::span<const std::byte> bytes) {
  std::vector<Half> typed(bytes.size() / sizeof(Half));
  std::memcpy(typed.data(), bytes.data(), bytes.size());
  std::vector<double> values(typed.size());
  std::transform(typed.begin(), typed.end(), values.begin(),
                 [](Half half) { return static_cast<double>(widen(half)); });
  return values;
}

template <class T>
std::vector<double> values_as(std::span<const std::byte> bytes) {
  std::vector<T> typed(bytes.size() / sizeof(T));
  std::memcpy(typed.data(), bytes.data(), bytes.size());
  return {typed.begin(), typed.end()};
}

}  // namespace

std::vector<double> to_values(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::f32:
      return values_as<float>(bytes);
    case DType::f64:
      return values_as<double>(bytes);
    case DType::s32:
      return values_as<std::int32_t>(bytes);
    case DType::bf16:
      return values_of_halves<Bfloat16>(bytes);
    case DType::f16:
      return values_of_halves<Float16>(bytes);
    case DType::u8:
      return values_as<std::uint8_t>(bytes);
    case DType::s8:
      return values_as<std::int8_t>(bytes);
    default:
      throw InternalError(fmt::format("tests cannot read {}", name_of(dtype)));
  }
}

namespace {

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return std::numeric_limits<float>::epsilon();
    case DType::f64:
      return std::numeric_limits<double>::epsilon();
    default:
      throw InternalError(fmt::format("no epsilon for {}", name_of(dtype)));
  }
}

/// The relative error of one rounding to 16 bits; 0 for wider types.
double rounding_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return std::ldexp(1, -8);
    case DType::f16:
      return std::ldexp(1, -11);
    default:
      return 0;
  }
}

double round_to(DType dtype, double x) {
  switch (dtype) {
    case DType::f32:
      return static_cast<float>(x);
    case DType::bf16:
      return widen(narrow_to_bfloat16(x));
    case DType::f16:
      return widen(narrow_to_float16(x));
    default:
      return x;
  }
}

TensorType with_dtype(TensorType type, DType dtype) {
  const bool replaced = is_half(dtype) ? is_narrowed(type) : type.dtype == DType::f32;
  if (replaced) {
    type.dtype = dtype;
  }
  return type;
}

std::vector<ValueId> add_case_inputs(Graph& graph, const KernelCase& kernel_case,
                                     const CaseOptions& options) {
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < kernel_case.inputs.size(); ++i) {
    const TensorType type = with_dtype(kernel_case.inputs[i], options.dtype);
    const auto& weights = kernel_case.weights;
    const bool weight = std::find(weights.begin(), weights.end(), i) != weights.end();
    if (weight && options.weights == Weights::variables) {
      TensorType kept = type;
      kept.dtype = is_half(type.dtype) ? DType::f32 : type.dtype;
      inputs.push_back(graph.add_variable(fmt::format("in{}", i), kept, VariableRole::weight));
    } else {
      inputs.push_back(graph.add_input(fmt::format("in{}", i), type));
    }
  }
  return inputs;
}

/// `inputs` are the values that the node reads, before casts.
void add_case_gradients(Graph& graph, const Node& node, std::span<const ValueId> inputs,
                        std::span<const std::size_t> constants) {
  std::vector<ValueId> douts(node.outputs.size());
  douts[0] = graph.add_input("dout0", graph.type(node.outputs[0]));
  const auto wanted = [&](std::size_t i) {
    return is_floating(graph.type(node.inputs[i]).dtype) &&
           std::ranges::find(constants, i) == constants.end();
  };
  GradientContext context{
      .graph = graph, .node = node, .output_gradients = douts, .wanted = wanted};
  const auto gradients = node.op->gradient(context);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!wanted(i)) {
      continue;
    }
    check(gradients[i].valid(), fmt::format("{}: no gradient for input {}", node.name, i));
    check(graph.shape(gradients[i]) == graph.shape(node.inputs[i]),
          fmt::format("{}: gradient {} has another shape than its input", node.name, i));
    graph.set_output(fmt::format("grad{}", i), gradients[i]);
    if (graph.find_variable(inputs[i]) != nullptr) {
      check(graph.type(gradients[i]) == graph.type(inputs[i]),
            fmt::format("{}: gradient {} has another type than its variable", node.name, i));
      graph.add_gradient(inputs[i], gradients[i]);
    }
  }
}

}  // namespace

GraphRunner::GraphRunner(const Graph& graph, Backend& backend, DataFormat format,
                         bool deterministic)
    : executor_(graph, backend,
                {.format = format, .deterministic = deterministic, .poison = true}) {}

void GraphRunner::set(const std::string& name, std::span<const double> values) {
  for (const Variable& variable : graph().variables()) {
    if (graph().value(variable.value).name == name) {
      executor_.write_variable(name, std::vector<float>(values.begin(), values.end()));
      return;
    }
  }
  for (const ValueId id : graph().inputs()) {
    if (graph().value(id).name == name) {
      executor_.write_input(name, to_bytes(graph().type(id).dtype, values));
      inputs_[name].assign(values.begin(), values.end());
      return;
    }
  }
  throw InternalError(fmt::format("the graph has no input or variable {}", name));
}

void GraphRunner::run() { executor_.run(); }

std::vector<double> GraphRunner::output(const std::string& name) {
  const Value& value = graph().value(graph().output(name));
  if (value.origin == Value::Origin::input) {
    // A gradient that only passes through: the executor does not keep an input for reading.
    return inputs_.at(value.name);
  }
  return to_values(value.type.dtype, executor_.read_output(name));
}

std::vector<double> GraphRunner::gradient(const std::string& variable) {
  const auto floats = executor_.read_gradient(variable);
  return {floats.begin(), floats.end()};
}

Graph variables_as_inputs(const Graph& graph) {
  GraphCopy copy(graph);
  copy.add_inputs();
  for (const Variable& variable : graph.variables()) {
    copy[variable.value] =
        copy.graph().add_input(graph.value(variable.value).name, graph.type(variable.value));
  }
  for (const Node& node : graph.nodes()) {
    copy.append_node(node);
  }
  copy.add_outputs();
  for (const auto& [variable, gradient] : graph.gradients()) {
    copy.graph().set_output("gradient/" + graph.value(variable).name, copy[gradient]);
  }
  return std::move(copy.graph());
}

Graph case_graph(const KernelCase& kernel_case, const CaseOptions& options) {
  Graph graph;
  const auto inputs = add_case_inputs(graph, kernel_case, options);
  std::vector<ValueId> read = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = with_dtype(kernel_case.inputs[i], options.dtype).dtype;
    if (graph.type(inputs[i]).dtype != dtype) {
      read[i] =
          graph.add_node(kCast, fmt::format("cast{}", i), CastAttributes{dtype}, {inputs[i]})[0];
    }
  }
  graph.add_node(*kernel_case.op, kernel_case.name, kernel_case.attributes, read);
  const Node node = graph.nodes().back();
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!graph.type(node.outputs[i]).opaque) {
      graph.set_output(fmt::format("out{}", i), node.outputs[i]);
    }
  }
  if (options.gradients && kernel_case.gradients && node.op->gradient != nullptr &&
      is_floating(graph.type(node.outputs[0]).dtype)) {
    add_case_gradients(graph, node, inputs, kernel_case.constants);
  }
  return graph;
}

CaseData draw_case_data(const KernelCase& kernel_case, std::uint64_t seed) {
  RandomStream random(seed, hash_name(kernel_case.name));
  CaseData data;
  for (std::size_t i = 0; i < kernel_case.inputs.size(); ++i) {
    data.inputs.push_back(
        draw(kernel_case.fills[i], kernel_case.inputs[i].shape.elements(), random));
  }
  const Graph graph = case_graph(kernel_case, {.gradients = false});
  const InputFill integers{.kind = InputFill::Kind::integers, .scale = 4};
  data.dout = draw(kernel_case.exact ? integers : InputFill{},
                   graph.shape(graph.output("out0")).elements(), random);
  return data;
}

CaseData rounded(const KernelCase& kernel_case, DType dtype, CaseData data) {
  const Graph graph = case_graph(kernel_case, {.dtype = dtype, .gradients = false});
  const auto round = [&](std::vector<double>& values, DType to) {
    if (is_floating(to)) {
      std::transform(values.begin(), values.end(), values.begin(),
                     [&](double x) { return round_to(to, x); });
    }
  };
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    round(data.inputs[i], graph.type(graph.inputs()[i]).dtype);
  }
  round(data.dout, graph.type(graph.output("out0")).dtype);
  return data;
}

CaseRunner::CaseRunner(KernelCase kernel_case, const CaseOptions& options, Backend& backend)
    : case_(std::move(kernel_case)),
      dtype_(options.dtype),
      runner_(case_graph(case_, options), backend, options.format, options.deterministic) {}

CaseOutputs CaseRunner::run(const CaseData& data) {
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    runner_.set(fmt::format("in{}", i), data.inputs[i]);
  }
  const Graph& graph = runner_.graph();
  const auto is_dout = [&](ValueId id) { return graph.value(id).name == "dout0"; };
  if (std::any_of(graph.inputs().begin(), graph.inputs().end(), is_dout)) {
    runner_.set("dout0", data.dout);
  }
  return run_again();
}

CaseOutputs CaseRunner::run_again() {
  const Graph& graph = runner_.graph();
  runner_.run();
  CaseOutputs outputs;
  for (const auto& [name, id] : graph.outputs()) {
    outputs[name] = runner_.output(name);
  }
  // The optimizer's view must match the graph's.
  for (const auto& [variable, gradient] : graph.gradients()) {
    const std::string name = graph.value(variable).name;
    outputs["variable_grad" + name.substr(2)] = runner_.gradient(name);
  }
  return outputs;
}

std::uint64_t test_seed() {
  const char* given = std::getenv("BENCH_TEST_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

namespace {

/// Returns true if a case's node has several parts, several steps or a curved activation.
bool has_parts(const KernelCase& kernel_case) {
  const Node node{.name = kernel_case.name,
                  .op = kernel_case.op,
                  .attributes = kernel_case.attributes,
                  .inputs = {},
                  .outputs = {}};
  const OpDef* const op = kernel_case.op;
  return op == &kActivation || op == &kRnn ||
         (op != nullptr && op->fused != nullptr && op->fused(node));
}

/// The allowed difference of a result.
struct Allowance {
  /// Multiplies the sum of an element and its tensor's root mean square.
  double factor = 0;
  /// The number of elements that may differ by more.
  double outliers = 0;
};

Allowance allowance_of(const KernelCase& kernel_case, DType dtype, Result result, double size) {
  if (kernel_case.exact) {
    return {};
  }
  const double sums = kernel_case.epsilons * epsilon_of(accumulation_type(dtype)) *
                      std::sqrt(static_cast<double>(kernel_case.reduction));
  if (!is_half(dtype)) {
    return {.factor = sums};
  }
  if (!has_parts(kernel_case) || result == Result::output) {
    // oneDNN adds the gradients of overlapping pooling windows in 16 bits.
    const bool pool = kernel_case.op == &kMaxPool || kernel_case.op == &kAvgPool;
    const double parts = has_parts(kernel_case) ? 4 : 1;
    const double roundings =
        2 * parts * (pool ? std::sqrt(static_cast<double>(kernel_case.reduction)) : 1);
    return {.factor = sums + roundings * rounding_of(dtype)};
  }
  // Parts round where the whole does not. An element near an activation's kink may then get the
  // gradient of the other side. A sigmoid near 1 has lost the digits of its slope.
  // Recurrent layers have no kink, except with ReLU.
  constexpr double kRoundings = 32;
  constexpr double kOutliers = 0.05;
  return {.factor = sums + kRoundings * rounding_of(dtype),
          .outliers = kernel_case.smooth && kernel_case.op == &kRnn ? 0 : 1 + kOutliers * size};
}

}  // namespace

DType CaseRunner::precision(const std::string& output) const {
  const DType own = graph().type(graph().output(output)).dtype;
  return has_parts(case_) && !case_.exact && own == DType::f32 ? dtype_ : own;
}

std::string compare(const KernelCase& kernel_case, DType dtype, Result result,
                    const std::vector<double>& actual, const std::vector<double>& expected) {
  constexpr double kMostZeros = 0.9;
  if (actual.size() != expected.size()) {
    return fmt::format("has {} elements, expected {}", actual.size(), expected.size());
  }
  const auto size = static_cast<double>(expected.size());
  const auto zeros = static_cast<double>(std::count(expected.begin(), expected.end(), 0.0));
  if (zeros > kMostZeros * size) {
    return fmt::format("{:g} of {:g} expected elements are 0, which proves nothing", zeros, size);
  }
  double squares = 0;
  for (const double x : expected) {
    squares += x * x;
  }
  const double rms = std::sqrt(squares / size);
  const Allowance allowance = allowance_of(kernel_case, dtype, result, size);
  std::string worst;
  double worst_ratio = 1;
  int outliers = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double right = kernel_case.exact ? round_to(dtype, expected[i]) : expected[i];
    const double error = std::abs(actual[i] - right);
    const double allowed = kernel_case.quanta + allowance.factor * (std::abs(expected[i]) + rms);
    const double ratio = error == 0 ? 0 : error / allowed;
    // With this form, NaN counts as the worst value.
    if (!(ratio <= 1)) {
      ++outliers;
    }
    if (!(ratio <= worst_ratio)) {
      worst_ratio = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
      worst = fmt::format("element {} is {:g}, expected {:g}, off by {:g} (allowed {:g})", i,
                          actual[i], expected[i], error, allowed);
    }
  }
  return std::isinf(worst_ratio) || outliers > allowance.outliers ? worst : "";
}

}  // namespace bench
