#include "kernels/cpu/topology.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/test/conformance.h"
#include "models/ops/rnn.h"

namespace bench {
namespace {

/// On every core this process may use.
BackendUnderTest onednn() {
  const auto make = [] {
    return make_onednn_backend({.processors = choose_processors(discover_topology(), std::nullopt),
                                .pin = false,
                                .max_isa = {}});
  };
  const auto lacks_case = [](const KernelCase& one, DType dtype) {
    return one.op == &kRnn && (one.attributes.as<RnnAttributes>().lengths || dtype == DType::f16);
  };
  return {.name = "onednn", .make = make, .lacks_case = lacks_case};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Onednn, Conformance, conformance_parameters(onednn(), DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(OnednnBf16, Conformance, conformance_parameters(onednn(), DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(OnednnF16, Conformance, conformance_parameters(onednn(), DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Onednn, OptimizerConformance, optimizer_parameters(onednn()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(Onednn, NormalizationConformance,
                         normalization_parameters(onednn(), {DType::f32, DType::f16, DType::bf16}),
                         normalization_name);
INSTANTIATE_TEST_SUITE_P(Onednn, StreamConformance, testing::Values(onednn()), backend_name);

}  // namespace bench
