#include <cstring>

#include "kernels/core_build.h"
#include "kernels/cuda/emulator_libraries/emulated_backend.h"

/// See GpuProviderEntry.
extern "C" bench::GpuProvider* bench_gpu_provider(const char* build);

bench::GpuProvider* bench_gpu_provider(const char* build) {
  if (std::strcmp(build, bench::kCoreBuild) != 0) {
    return nullptr;
  }
  static const std::unique_ptr<bench::GpuProvider> kProvider =
      bench::cuda::make_emulated_provider();
  return kProvider.get();
}
