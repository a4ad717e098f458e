#include <cstdlib>
#include <cstring>
#include <string>

#include "kernels/core_build.h"
#include "kernels/cuda/device/runtime.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"

namespace {

/// A whole number from the environment, or `other` if the variable is not set.
unsigned long long number_of(const char* variable, unsigned long long other) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? other : std::stoull(given);
}

}  // namespace

extern "C" {
/// See GpuProviderEntry. EMULATED_GPUS is the number of GPUs, EMULATED_GPU_0_CAPABILITY the first
/// one's compute capability, and EMULATED_GPU_SCHEDULE the seed of their schedule.
bench::GpuProvider* bench_gpu_provider(const char* build);
/// emulator::set_schedule(), for programs that open the library.
void emulated_gpu_schedule(unsigned long long seed);
/// emulator::set_peer_access().
void emulated_gpu_peer_access(bool possible);
}

bench::GpuProvider* bench_gpu_provider(const char* build) {
  if (std::strcmp(build, bench::kCoreBuild) != 0) {
    return nullptr;
  }
  static const std::unique_ptr<bench::GpuProvider> kProvider = [] {
    bench::cuda::emulator::set_devices(static_cast<int>(number_of("EMULATED_GPUS", 1)));
    bench::cuda::emulator::set_capability(
        0, static_cast<int>(number_of("EMULATED_GPU_0_CAPABILITY", 90)));
    emulated_gpu_schedule(number_of("EMULATED_GPU_SCHEDULE", 0));
    return bench::cuda::make_emulated_provider();
  }();
  return kProvider.get();
}

void emulated_gpu_schedule(unsigned long long seed) { bench::cuda::emulator::set_schedule(seed); }

void emulated_gpu_peer_access(bool possible) { bench::cuda::emulator::set_peer_access(possible); }
