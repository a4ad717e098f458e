#include "kernels/cpu/topology.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/test/conformance.h"

namespace bench {
namespace {

/// On every core this process may use.
BackendUnderTest onednn() {
  return {.name = "onednn", .make = [] {
            return make_onednn_backend(
                {.processors = choose_processors(discover_topology(), std::nullopt),
                 .pin = false,
                 .max_isa = {}});
          }};
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
