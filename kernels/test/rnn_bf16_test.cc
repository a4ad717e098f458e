#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/ops/rnn.h"

namespace bench {
namespace {

/// Errors of PyTorch 2.15 in bf16 on a Zen 4: the norm of the differences from f64 / the norm in
/// f64. The mean over 8 seeds of kernels/reference/test/torch/rnn_bf16_errors.py.
struct TorchErrors {
  RnnCell cell = RnnCell::relu;
  /// In the order of kResults.
  std::array<double, 6> errors = {};
};
/// The states, then the gradients of x, w_x, w_h, b_x and b_h.
constexpr std::array<const char*, 6> kResults{"out0", "grad0", "grad1", "grad2", "grad3", "grad4"};

KernelCase layer(RnnCell cell) {
  constexpr std::int64_t kSteps = 25;
  constexpr std::int64_t kSequences = 16;
  constexpr std::int64_t kUnits = 64;
  const std::int64_t gates = gates_of(cell);
  const TensorType weights{.shape = {1, gates, kUnits, kUnits}};
  const TensorType bias{.shape = {gates * kUnits}};
  // The standard deviation of PyTorch's initial weights, which are uniform.
  const InputFill drawn{.scale = 1 / std::sqrt(3.0 * kUnits)};
  return {.name = "layer",
          .op = &kRnn,
          .attributes = RnnAttributes{.cell = cell, .hidden_bias = true},
          .inputs = {{.shape = {kSteps, kSequences, kUnits}}, weights, weights, bias, bias},
          .fills = {{}, drawn, drawn, drawn, drawn},
          .weights = {1, 2, 3, 4}};
}

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) {
    squares += value * value;
  }
  return std::sqrt(squares);
}

double relative_error(std::vector<double> actual, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    actual.at(i) -= expected[i];
  }
  return norm(actual) / norm(expected);
}

class RnnInBf16 : public testing::TestWithParam<TorchErrors> {};

TEST_P(RnnInBf16, IsAboutAsExactAsPyTorch) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  const KernelCase one = layer(GetParam().cell);
  const CaseOptions options{.dtype = DType::bf16};
  const Graph graph = case_graph(one, options);
  if (const Support support = backend->supports(graph, graph.nodes()[0]); !support) {
    GTEST_SKIP() << support.why_not;
  }
  const auto reference = make_reference_backend();
  CaseRunner exact(one, {.dtype = DType::f64}, *reference);
  CaseRunner runner(one, options, *backend);
  constexpr std::uint64_t kSeeds = 4;
  std::array<double, kResults.size()> errors{};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const CaseData data = rounded(one, DType::bf16, draw_case_data(one, seed));
    const CaseOutputs expected = exact.run(data);
    const CaseOutputs actual = runner.run(data);
    for (std::size_t i = 0; i < kResults.size(); ++i) {
      errors[i] += relative_error(actual.at(kResults[i]), expected.at(kResults[i])) / kSeeds;
    }
  }
  // The weights and seeds are not PyTorch's, so the errors may differ slightly.
  constexpr double kFluctuation = 1.1;
  for (std::size_t i = 0; i < kResults.size(); ++i) {
    EXPECT_GT(errors[i], 0) << kResults[i];
    EXPECT_LE(errors[i], kFluctuation * GetParam().errors[i]) << kResults[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Onednn, RnnInBf16,
    testing::Values(
        TorchErrors{RnnCell::relu, {2.63e-3, 3.88e-2, 3.87e-2, 3.95e-2, 3.89e-2, 3.98e-2}},
        TorchErrors{RnnCell::tanh, {2.61e-3, 3.81e-3, 3.83e-3, 7.62e-3, 3.70e-3, 7.20e-3}},
        TorchErrors{RnnCell::lstm, {2.00e-3, 3.70e-3, 3.70e-3, 3.82e-3, 3.13e-3, 3.13e-3}},
        TorchErrors{RnnCell::gru_reset_after,
                    {4.61e-3, 5.24e-3, 5.21e-3, 9.07e-3, 4.11e-3, 7.04e-3}}),
    [](const auto& one) { return std::string(name_of(one.param.cell)); });

}  // namespace
}  // namespace bench
