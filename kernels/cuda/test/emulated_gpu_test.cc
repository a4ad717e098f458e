#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator_libraries/emulated_backend.h"
#include "kernels/test/conformance.h"

namespace bench {
namespace {

/// Every kernel has to leave the same bits in each order of lanes and of blocks.
std::unique_ptr<Backend> make_repeating_backend() {
  cuda::emulator::set_repetition(true);
  return cuda::make_emulated_backend();
}

/// What kernels/cuda/README.md says it leaves out.
BackendUnderTest emulated() {
  return {.name = "emulated_gpu",
          .make = make_repeating_backend,
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
INSTANTIATE_TEST_SUITE_P(EmulatedGpu, StreamConformance, testing::Values(emulated()), backend_name);

}  // namespace bench
