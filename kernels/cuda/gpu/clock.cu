#include "kernels/cuda/gpu/clock.h"

#include "kernels/cuda/device/device_api.h"

namespace bench::cuda {
namespace {

__global__ void count_cycles_kernel(std::uint64_t nanoseconds, ClockCount* count) {
  // The timer moves in steps of up to a microsecond, so the window begins at a step.
  const std::uint64_t before = global_nanoseconds();
  std::uint64_t begin = before;
  while (begin == before) {
    begin = global_nanoseconds();
  }
  const std::uint64_t first = multiprocessor_cycles();
  std::uint64_t now = begin;
  while (now - begin < nanoseconds) {
    now = global_nanoseconds();
  }
  count->cycles = multiprocessor_cycles() - first;
  count->nanoseconds = now - begin;
}

}  // namespace

void count_cycles(cudaStream_t stream, std::uint64_t nanoseconds, ClockCount* count) {
  launch(stream, {"count_cycles", dim3(1), dim3(1)}, count_cycles_kernel, nanoseconds, count);
}

}  // namespace bench::cuda
