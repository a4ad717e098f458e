#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator_libraries/emulated_backend.h"
#include "kernels/cuda/test/gpu_under_test.h"
#include "kernels/test/tuning_suite.h"

namespace bench {
namespace {

/// Every kernel has to leave the same bits in each order of lanes and of blocks.
std::unique_ptr<Backend> make_repeating_backend() {
  cuda::emulator::set_repetition(true);
  return cuda::make_emulated_backend();
}

BackendUnderTest emulated() { return gpu_under_test("emulated_gpu", make_repeating_backend); }

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
