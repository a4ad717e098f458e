#include "kernels/cuda/emulator_libraries/emulated_backend.h"
#include "kernels/test/conformance.h"
#include "kernels/test/tuning_suite.h"

namespace bench {
namespace {

/// What kernels/cuda/README.md says it leaves out.
BackendUnderTest emulated() {
  return {.name = "emulated_gpu",
          .make = cuda::make_emulated_backend,
          .lacks = {"quantize", "dequantize", "quantized_add", "quantized_conv2d",
                    "quantized_fully_connected", "quantized_spatial_mean"},
          .lacks_quanta = true,
          .narrow_filter_gradients = true};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(F32, Conformance, conformance_parameters(emulated(), DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F16, Conformance, conformance_parameters(emulated(), DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Bf16, Conformance, conformance_parameters(emulated(), DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, OptimizerConformance, optimizer_parameters(emulated()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, Tuning,
                         testing::Values(TunedDevice{.name = "emulated_gpu",
                                                     .make = cuda::make_emulated_backend}),
                         tuned_device_name);
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, StreamConformance, testing::Values(emulated()), backend_name);

}  // namespace bench
