#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cases/cases.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/base/errors.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/ops/flatten.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/pool.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_batch_norm.h"
#include "models/passes/normalize_where_read.h"

namespace bench {
namespace {

/// Half the distance of a central difference. In f64 its square (the truncation) and epsilon
/// divided by it (the rounding) are both far below kTolerance.
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double rms(const std::vector<double>& values) {
  return std::sqrt(dot(values, values) / static_cast<double>(values.size()));
}

std::vector<KernelCase> differentiable_cases() {
  std::vector<KernelCase> cases = all_cases();
  std::erase_if(cases, [](const KernelCase& c) {
    return c.op->gradient == nullptr || !c.gradients || !c.smooth;
  });
  return cases;
}

std::string case_name(const testing::TestParamInfo<KernelCase>& info) { return info.param.name; }

/// The function sum(out0 * dout0) near a case's data, all in f64 on the reference.
class Objective {
 public:
  Objective(const KernelCase& kernel_case, CaseData data)
      : data_(std::move(data)),
        backend_(make_reference_backend()),
        forward_(kernel_case, {.dtype = DType::f64, .gradients = false}, *backend_) {}

  struct Slope {
    double value = 0;
    /// False if an output reached or left a value where an activation is flat: a kink is between
    /// both ends.
    bool smooth = true;
  };

  /// The derivative along `direction`, a change of input `input`.
  Slope along(std::size_t input, const std::vector<double>& direction) {
    const auto above = shifted(input, direction, kStep);
    const auto below = shifted(input, direction, -kStep);
    Slope slope{.value = (dot(above, data_.dout) - dot(below, data_.dout)) / (2 * kStep)};
    for (std::size_t i = 0; i < above.size(); ++i) {
      for (const double flat : {0.0, 1.0, 6.0}) {
        slope.smooth = slope.smooth && (above[i] == flat) == (below[i] == flat);
      }
    }
    return slope;
  }

 private:
  std::vector<double> shifted(std::size_t input, const std::vector<double>& direction,
                              double amount) {
    CaseData data = data_;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      data.inputs[input][i] += amount * direction[i];
    }
    return forward_.run(data).at("out0");
  }

  CaseData data_;
  std::unique_ptr<Backend> backend_;
  CaseRunner forward_;
};

class Gradients : public testing::TestWithParam<KernelCase> {};

INSTANTIATE_TEST_SUITE_P(Reference, Gradients, testing::ValuesIn(differentiable_cases()),
                         case_name);

/// Compares each input's gradient with central differences: at its first and last element, at some
/// in between, and along one direction. That direction moves all elements, so that no element is
/// missed.
TEST_P(Gradients, AgreeWithCentralDifferences) {
  const KernelCase& kernel_case = GetParam();
  SCOPED_TRACE(fmt::format("BENCH_TEST_SEED={}", test_seed()));
  constexpr int kElementsBetween = 6;
  const CaseData data = draw_case_data(kernel_case, test_seed());
  const auto backend = make_reference_backend();
  CaseRunner runner(kernel_case, {.dtype = DType::f64}, *backend);
  const CaseOutputs outputs = runner.run(data);
  Objective objective(kernel_case, data);
  RandomStream random(test_seed(), hash_name(kernel_case.name + "/directions"));

  for (std::size_t input = 0; input < data.inputs.size(); ++input) {
    const auto found = outputs.find(fmt::format("grad{}", input));
    if (found == outputs.end()) {
      continue;
    }
    const std::vector<double>& gradient = found->second;
    const std::size_t size = gradient.size();
    int smooth_slopes = 0;
    const auto expect_slope = [&](const std::vector<double>& direction, const std::string& what) {
      const auto slope = objective.along(input, direction);
      if (!slope.smooth) {
        return;
      }
      ++smooth_slopes;
      const double expected = dot(gradient, direction);
      const double scale = rms(gradient) * std::sqrt(dot(direction, direction));
      EXPECT_NEAR(slope.value, expected, kTolerance * (std::abs(expected) + scale))
          << "input " << input << ", " << what;
    };
    std::vector<std::size_t> elements{0, size - 1};
    for (int i = 0; i < kElementsBetween; ++i) {
      elements.push_back(random.below(static_cast<std::uint32_t>(size)));
    }
    for (const std::size_t element : elements) {
      std::vector<double> direction(size, 0.0);
      direction[element] = 1;
      expect_slope(direction, fmt::format("element {}", element));
    }
    EXPECT_GE(smooth_slopes, kElementsBetween) << "input " << input << " has kinks everywhere";
    // A direction may cross a kink somewhere; then another one does not.
    constexpr int kDirections = 8;
    smooth_slopes = 0;
    for (int i = 0; i < kDirections && smooth_slopes == 0; ++i) {
      std::vector<double> direction(size);
      for (double& x : direction) {
        x = 0.25 * random.normal();
      }
      expect_slope(direction, "all elements");
    }
    EXPECT_EQ(smooth_slopes, 1) << "input " << input << " met a kink in every direction";
  }
}

/// A network with every kind of layer that training uses, with a fork and a weight that the loss
/// reads twice (through L2).
class Network {
 public:
  /// chain: with convolutions that read only a batch norm, and are its only reader.
  explicit Network(DType dtype, bool chain = false) : dtype_(dtype) {
    ValueId x = graph_.add_input("images", {.dtype = dtype, .shape = {4, 3, 8, 8}});
    const ValueId labels = graph_.add_input("labels", {.dtype = DType::s32, .shape = {4}});
    x = relu("bn1", norm("bn1", conv("conv1", x, 6, 3, 1)));
    if (chain) {
      x = relu("bn_next", norm("bn_next", conv("conv_next", x, 8, 3, 1)));
      x = relu("bn_last", norm("bn_last", conv("conv_last", x, 6, 1, 0)));
    }
    const auto pooled = graph_.add_node(
        kMaxPool, "pool",
        PoolAttributes{.window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}},
                       .input = graph_.shape(x)},
        {x});
    const ValueId shortcut = norm("downsample", conv("downsample", pooled[0], 8, 1, 0));
    const ValueId main = norm("bn2", conv("conv2", pooled[0], 8, 3, 1));
    x = relu("block", graph_.add_node(kAdd, "sum", {}, {main, shortcut})[0]);
    x = relu("conv3", bias("conv3", conv("conv3", x, 5, 3, 0)));
    x = graph_.add_node(kFlatten, "flatten", {}, {x})[0];
    const ValueId weight = variable("fc.weight", {7, graph_.shape(x)[1]});
    x = graph_.add_node(kFullyConnected, "fc", FullyConnectedAttributes{}, {x, weight})[0];
    x = bias("fc", x);
    const auto loss = graph_.add_node(kSoftmaxCrossEntropy, "cross_entropy",
                                      SoftmaxCrossEntropyAttributes{}, {x, labels});
    const ValueId l2 =
        graph_.add_node(kL2Loss, "l2", L2LossAttributes{.coefficient = 0.25}, weights_)[0];
    graph_.set_output("loss", graph_.add_node(kAdd, "loss", {}, {loss[0], l2})[0]);
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  ValueId variable(const std::string& name, const Shape& shape) {
    const ValueId id =
        graph_.add_variable(name, {.dtype = dtype_, .shape = shape}, VariableRole::weight);
    if (shape.rank() > 1) {
      weights_.push_back(id);
    }
    return id;
  }
  ValueId conv(const std::string& name, ValueId x, std::int64_t filters, std::int64_t kernel,
               std::int64_t pad) {
    const ValueId w = variable(name + ".weight", {filters, graph_.shape(x)[1], kernel, kernel});
    return graph_.add_node(kConv2d, name,
                           Conv2dAttributes{.window = {.kernel = {kernel, kernel},
                                                       .pad_before = {pad, pad},
                                                       .pad_after = {pad, pad}}},
                           {x, w})[0];
  }
  ValueId norm(const std::string& name, ValueId x) {
    const Shape channels{graph_.shape(x)[1]};
    const ValueId gamma = variable(name + ".norm.weight", channels);
    const ValueId beta = variable(name + ".norm.bias", channels);
    return graph_.add_node(kBatchNorm, name + ".norm", BatchNormAttributes{}, {x, gamma, beta})[0];
  }
  ValueId bias(const std::string& name, ValueId x) {
    const ValueId b = variable(name + ".bias", {graph_.shape(x)[1]});
    return graph_.add_node(kBiasAdd, name + ".bias", {}, {x, b})[0];
  }
  ValueId relu(const std::string& name, ValueId x) {
    return graph_.add_node(kActivation, name + ".relu", ActivationAttributes{}, {x})[0];
  }

  DType dtype_;
  Graph graph_;
  std::vector<ValueId> weights_;
};

/// Values for every input and variable of the network, by name.
std::map<std::string, std::vector<double>> draw_network_data(const Graph& graph) {
  // With this fixed seed, no ReLU or maximum changes sides within the differences.
  constexpr std::uint64_t kSeed = 7;
  std::map<std::string, std::vector<double>> data;
  const auto put = [&](ValueId id) {
    const Value& value = graph.value(id);
    RandomStream random(kSeed, hash_name(value.name));
    const bool labels = value.type.dtype == DType::s32;
    const InputFill fill =
        labels ? InputFill{.kind = InputFill::Kind::labels, .scale = 7} : InputFill{.scale = 0.5};
    data[value.name] = draw(fill, value.type.shape.elements(), random);
  };
  std::for_each(graph.inputs().begin(), graph.inputs().end(), put);
  for (const Variable& variable : graph.variables()) {
    put(variable.value);
  }
  return data;
}

void set_all(GraphRunner& runner, const std::map<std::string, std::vector<double>>& data) {
  for (const auto& [name, values] : data) {
    runner.set(name, values);
  }
}

TEST(WholeGraph, EveryVariablesGradientAgreesWithCentralDifferences) {
  const Graph forward = Network(DType::f64).graph();
  const Graph backward = add_backward(forward, "loss");
  auto data = draw_network_data(forward);
  const auto backend = make_reference_backend();
  GraphRunner loss(variables_as_inputs(forward), *backend, DataFormat::automatic);
  GraphRunner gradients(variables_as_inputs(backward), *backend, DataFormat::automatic);
  constexpr double kLossScale = 8;
  set_all(gradients, data);
  gradients.set("loss_scale", std::vector{kLossScale});
  gradients.run();
  set_all(loss, data);
  ASSERT_EQ(backward.gradients().size(), forward.variables().size());
  for (const Variable& variable : forward.variables()) {
    const std::string& name = forward.value(variable.value).name;
    const auto gradient = gradients.output("gradient/" + name);
    std::vector<double>& values = data.at(name);
    ASSERT_EQ(gradient.size(), values.size()) << name;
    const double scale = rms(gradient);
    const std::size_t stride = std::max<std::size_t>(values.size() / 16, 1);
    for (std::size_t i = 0; i < values.size(); i += stride) {
      const double centre = values[i];
      const auto loss_at = [&](double x) {
        values[i] = x;
        loss.set(name, values);
        loss.run();
        return loss.output("loss")[0];
      };
      const double slope = (loss_at(centre + kStep) - loss_at(centre - kStep)) / (2 * kStep);
      values[i] = centre;
      loss.set(name, values);
      EXPECT_NEAR(kLossScale * slope, gradient[i], kTolerance * (std::abs(gradient[i]) + scale))
          << name << " element " << i;
    }
  }
}

/// Expects that `actual` has the loss and all gradients of `expected`; both contain gradients.
void expect_same_gradients(const Graph& forward, const Graph& actual, const Graph& expected) {
  const auto backend = make_reference_backend();
  const auto run = [&](const Graph& graph) {
    auto runner =
        std::make_unique<GraphRunner>(variables_as_inputs(graph), *backend, DataFormat::automatic);
    set_all(*runner, draw_network_data(forward));
    runner->set("loss_scale", std::vector{1.0});
    runner->run();
    return runner;
  };
  const auto right = run(expected);
  const auto found = run(actual);
  EXPECT_DOUBLE_EQ(found->output("loss")[0], right->output("loss")[0]);
  for (const Variable& variable : forward.variables()) {
    const std::string name = "gradient/" + forward.value(variable.value).name;
    const auto a = found->output(name);
    const auto b = right->output(name);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-13 * (std::abs(b[i]) + rms(b))) << name << " element " << i;
    }
  }
}

Support everything_runs(const Graph&, const Node&) { return {}; }

TEST(WholeGraph, NormalizingWhereItIsReadChangesNoGradient) {
  const Graph forward = Network(DType::f64, true).graph();
  const Graph fused = fuse_batch_norm(fuse(forward, everything_runs), everything_runs);
  const Graph graph = normalize_where_read(add_backward(fused, "loss"), everything_runs);
  // The last two of the three convolutions in the chain, each with its filter gradient.
  EXPECT_EQ(std::ranges::count_if(graph.nodes(), has_prologue), 4);
  expect_same_gradients(forward, graph, add_backward(forward, "loss"));
}

TEST(WholeGraph, FusionChangesNoGradient) {
  const Graph forward = Network(DType::f64).graph();
  const Graph fused = fuse(forward, everything_runs);
  const auto has_epilogue = [](const Node& node) {
    return node.op->fused != nullptr && node.op->fused(node);
  };
  // bn1+relu, bn2+sum+relu, conv3+bias+relu, fc+bias.
  EXPECT_EQ(std::count_if(fused.nodes().begin(), fused.nodes().end(), has_epilogue), 4);
  expect_same_gradients(forward, add_backward(fused, "loss"), add_backward(forward, "loss"));
}

}  // namespace
}  // namespace bench
