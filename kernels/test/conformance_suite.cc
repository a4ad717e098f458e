#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/conformance.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"
#include "models/ops/quantized.h"
#include "models/ops/rnn.h"

namespace bench {

std::ostream& operator<<(std::ostream& out, const BackendUnderTest& backend) {
  return out << backend.name;
}

std::vector<KernelCase> cases_in(DType dtype) {
  std::vector<KernelCase> cases = all_cases();
  if (is_half(dtype)) {
    std::erase_if(cases, [](const KernelCase& kernel_case) {
      const auto quantized = [](const TensorType& type) { return is_quantized(type.dtype); };
      return !kernel_case.op->computes_in_16_bits || kernel_case.op == &kQuantize ||
             std::any_of(kernel_case.inputs.begin(), kernel_case.inputs.end(), quantized);
    });
  }
  return cases;
}

namespace {

Result result_of(const std::string& name) {
  return name.starts_with("out") ? Result::output : Result::gradient;
}

}  // namespace

std::string Conformance::left_out() const {
  const Graph graph = case_graph(kernel_case(), options(Weights::inputs));
  const BackendUnderTest& under_test = std::get<0>(GetParam());
  for (const Node& node : graph.nodes()) {
    if (under_test.lacks.count(node.op->name) != 0) {
      EXPECT_FALSE(device().supports(graph, node)) << "it is declared to lack " << node.op->name;
      return fmt::format("{} lacks {}", under_test.name, node.op->name);
    }
  }
  const auto has_quanta = [](const TensorType& type) { return is_quantized(type.dtype); };
  if (under_test.lacks_quanta && std::ranges::any_of(kernel_case().inputs, has_quanta)) {
    EXPECT_FALSE(device().supports(graph, graph.nodes()[0])) << "it is declared to lack u8 and s8";
    return fmt::format("{} lacks u8 and s8", under_test.name);
  }
  if (under_test.lacks_case(kernel_case(), dtype())) {
    const Support support = device().supports(graph, graph.nodes()[0]);
    EXPECT_FALSE(support) << "it is declared to lack this case";
    return support.why_not;
  }
  const OpDef* op = kernel_case().op;
  if (op == &kQuantizedConv2d || op == &kQuantizedFullyConnected) {
    return device().supports(graph, graph.nodes()[0]).why_not;
  }
  const auto values = graph.values();
  const auto narrow = std::find_if(values.begin(), values.end(),
                                   [](const Value& value) { return is_half(value.type.dtype); });
  return narrow == values.end() ? "" : computes_in(device(), narrow->type.dtype).why_not;
}

DType Conformance::precision(const CaseRunner& runner, const std::string& result) const {
  const bool of_filter = (kernel_case().op == &kConv2d && result == "grad1") ||
                         (kernel_case().op == &kConv2dBackwardWeights && result == "out0");
  return of_filter && device().narrow_filter_gradients() ? dtype() : runner.precision(result);
}

void Conformance::expect_reference_results(Weights weights) const {
  SCOPED_TRACE(how_to_repeat());
  const CaseData data = rounded(kernel_case(), dtype(), draw_case_data(kernel_case(), test_seed()));
  const auto oracle = make_reference_backend();
  CaseRunner reference(kernel_case(), {.dtype = DType::f64}, *oracle);
  CaseRunner runner(kernel_case(), options(weights), device());
  const CaseOutputs expected = reference.run(data);
  const CaseOutputs actual = runner.run(data);
  for (const auto& [name, values] : expected) {
    EXPECT_EQ(
        compare(kernel_case(), precision(runner, name), result_of(name), actual.at(name), values),
        "")
        << name;
  }
  for (const auto& [name, values] : actual) {
    if (name.starts_with("variable_")) {
      EXPECT_EQ(values, actual.at(name.substr(9))) << name;
    }
  }
}

TEST_P(Conformance, MatchesTheReference) {
  if (const std::string why = left_out(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  expect_reference_results(Weights::inputs);
}

TEST_P(Conformance, MatchesTheReferenceWithWeightsInVariables) {
  if (kernel_case().weights.empty()) {
    return;
  }
  if (const std::string why = left_out(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  expect_reference_results(Weights::variables);
}

/// Without a gradient, a kernel need not write the opaque output that its backward reads.
TEST_P(Conformance, MatchesTheReferenceInInference) {
  CaseOptions inference = options(Weights::inputs);
  inference.gradients = false;
  const Graph graph = case_graph(kernel_case(), inference);
  if (std::ranges::none_of(graph.values(), [](const Value& value) { return value.type.opaque; })) {
    return;  // The other tests compute the same.
  }
  if (const std::string why = left_out(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  SCOPED_TRACE(how_to_repeat());
  const CaseData data = rounded(kernel_case(), dtype(), draw_case_data(kernel_case(), test_seed()));
  const auto oracle = make_reference_backend();
  const CaseOutputs expected =
      CaseRunner(kernel_case(), {.dtype = DType::f64, .gradients = false}, *oracle).run(data);
  CaseRunner runner(kernel_case(), inference, device());
  const CaseOutputs actual = runner.run(data);
  EXPECT_EQ(compare(kernel_case(), precision(runner, "out0"), Result::output, actual.at("out0"),
                    expected.at("out0")),
            "");
}

TEST_P(Conformance, RepeatsBitForBit) {
  if (const std::string why = left_out(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  SCOPED_TRACE(how_to_repeat());
  const CaseData data = draw_case_data(kernel_case(), test_seed());
  CaseOptions repeated = options(Weights::inputs);
  repeated.deterministic = true;
  CaseRunner runner(kernel_case(), repeated, device());
  const CaseOutputs first = runner.run(data);
  EXPECT_EQ(runner.run_again(), first) << "the second run of one executor, on the same inputs";
  CaseRunner other(kernel_case(), repeated, device());
  EXPECT_EQ(other.run(data), first) << "another executor";
}

}  // namespace bench
