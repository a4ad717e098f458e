#include "kernels/test/conformance.h"

#include <gmock/gmock.h>

#include <set>

#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/ops/lrn.h"
#include "models/ops/ops.h"

namespace bench {
namespace {

/// The reference, but for one op.
class WithoutLrn final : public ForwardingBackend {
 public:
  explicit WithoutLrn(std::unique_ptr<Backend> whole)
      : ForwardingBackend(*whole), whole_(std::move(whole)) {}
  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    if (node.op == &kLrn) {
      return {.yes = false, .why_not = "no lrn here"};
    }
    return ForwardingBackend::supports(graph, node);
  }

 private:
  std::unique_ptr<Backend> whole_;
};

std::vector<KernelCase> cases_of(const OpDef& op) {
  std::vector<KernelCase> cases = all_cases();
  std::erase_if(cases, [&](const KernelCase& kernel_case) { return kernel_case.op != &op; });
  return cases;
}

BackendUnderTest without_lrn() {
  return {.name = "without_lrn",
          .make = [] { return std::make_unique<WithoutLrn>(make_reference_backend()); },
          .lacks = {"lrn"}};
}

}  // namespace

// The reference's narrower storage against its f64 storage, which proves the suite itself.
INSTANTIATE_TEST_SUITE_P(F32, Conformance,
                         conformance_parameters({"reference", make_reference_backend}, DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Bf16, Conformance,
                         conformance_parameters({"reference", make_reference_backend}, DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F16, Conformance,
                         conformance_parameters({"reference", make_reference_backend}, DType::f16),
                         conformance_name);
// What a backend says it lacks is skipped, with its name.
INSTANTIATE_TEST_SUITE_P(Lacking, Conformance,
                         testing::Combine(testing::Values(without_lrn()),
                                          testing::Values(DataFormat::automatic),
                                          testing::Values(DType::f32),
                                          testing::ValuesIn(cases_of(kLrn))),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F32, OptimizerConformance,
                         optimizer_parameters({"reference", make_reference_backend}),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(Reference, NormalizationConformance,
                         normalization_parameters({"reference", make_reference_backend},
                                                  {DType::f32, DType::f16, DType::bf16,
                                                   DType::f64}),
                         normalization_name);
INSTANTIATE_TEST_SUITE_P(Reference, StreamConformance,
                         testing::Values(BackendUnderTest{"reference", make_reference_backend}),
                         backend_name);

namespace {

TEST(KernelCases, HaveDistinctNames) {
  std::set<std::string> names;
  for (const KernelCase& kernel_case : all_cases()) {
    EXPECT_TRUE(names.insert(kernel_case.name).second) << kernel_case.name;
  }
}

TEST(KernelCases, HaveOneFillPerInput) {
  for (const KernelCase& kernel_case : all_cases()) {
    EXPECT_EQ(kernel_case.fills.size(), kernel_case.inputs.size()) << kernel_case.name;
  }
}

TEST(KernelCases, RunEveryOpOnTheReference) {
  std::set<std::string_view> run;
  const auto backend = make_reference_backend();
  for (const KernelCase& kernel_case : all_cases()) {
    const CaseRunner runner(kernel_case, {}, *backend);
    for (const Node& node : runner.graph().nodes()) {
      EXPECT_TRUE(backend->supports(runner.graph(), node)) << node.name;
      run.insert(node.op->name);
    }
  }
  for (const OpDef* op : all_ops()) {
    EXPECT_THAT(run, testing::Contains(op->name));
  }
}

KernelCase plain_case() { return {.name = "plain", .reduction = 4, .epsilons = 1}; }

TEST(Compare, AllowsEpsilonsThatGrowWithTheReduction) {
  const double epsilon = std::numeric_limits<float>::epsilon();
  // The element 1 and the mean square of 1 allow 2 * sqrt(4) = 4 epsilons.
  EXPECT_EQ(compare(plain_case(), DType::f32, Result::output, {1 + 3.9 * epsilon, 1}, {1, 1}), "");
  EXPECT_THAT(compare(plain_case(), DType::f32, Result::output, {1, 1 + 4.1 * epsilon}, {1, 1}),
              testing::StartsWith("element 1 is "));
}

TEST(Compare, NeverAcceptsNanOrAnotherSize) {
  EXPECT_THAT(compare(plain_case(), DType::f32, Result::output, {1, std::nan("")}, {1, 1}),
              testing::StartsWith("element 1 is nan"));
  EXPECT_EQ(compare(plain_case(), DType::f32, Result::output, {1}, {1, 1}),
            "has 1 elements, expected 2");
}

TEST(Compare, DistrustsZeros) {
  const std::vector<double> zeros(16, 0.0);
  EXPECT_THAT(compare(plain_case(), DType::f32, Result::output, zeros, zeros),
              testing::HasSubstr("proves nothing"));
}

TEST(Compare, RequiresEqualNumbersInAnExactCase) {
  KernelCase exact = plain_case();
  exact.exact = true;
  EXPECT_EQ(compare(exact, DType::f32, Result::output, {1, 2}, {1, 2}), "");
  EXPECT_NE(compare(exact, DType::f32, Result::output, {1, 2.0000001}, {1, 2}), "");
}

}  // namespace
}  // namespace bench
