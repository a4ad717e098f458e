// The suite on the GPU of this machine, through the library that bench opens. Where there is none
// it says so and ends with 77. Flags are GoogleTest's; GTEST_TOTAL_SHARDS and GTEST_SHARD_INDEX
// divide it among processes.

#include <iostream>

#include "kernels/cuda/test/gpu_under_test.h"
#include "kernels/gpu_provider.h"

namespace bench {
namespace {

constexpr int kSkipped = 77;

BackendUnderTest present() {
  return gpu_under_test("gpu", [] { return open_gpu_provider().make_backend(0, {}); });
}

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const FoundGpus found = find_gpus();
  if (found.gpus.empty()) {
    std::cout << "SKIPPED  no GPU can be used: " << found.why_none << "\n";
    return kSkipped;
  }
  std::cout << "on " << found.gpus.front().name << ", with " << found.provider->libraries() << "\n";
  return RUN_ALL_TESTS();
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(F32, Conformance, conformance_parameters(present(), DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F16, Conformance, conformance_parameters(present(), DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Bf16, Conformance, conformance_parameters(present(), DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Gpu, OptimizerConformance, optimizer_parameters(present()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(Gpu, StreamConformance, testing::Values(present()), backend_name);

}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }
