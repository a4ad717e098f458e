#include "kernels/cuda/device/ceiling.h"

#include <algorithm>
#include <limits>

#include "kernels/cuda/device/memory.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/gpu/clock.h"
#include "kernels/cuda/gpu/elementwise.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

// The product is bound by arithmetic; the three arrays fit in no cache.
constexpr std::int64_t kProductSize = 8192;
constexpr std::int64_t kProductSize32 = 4096;
constexpr std::int64_t kArrayBytes = std::int64_t{256} << 20;
constexpr int kRounds = 10;

/// The shortest of several times on the device, without the first.
template <class Work>
double shortest_seconds(GpuStream& stream, const Work& work) {
  const auto begin = make_gpu_event();
  const auto end = make_gpu_event();
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kRounds; ++round) {
    stream.record(*begin);
    work();
    stream.record(*end);
    stream.synchronize();
    if (round > 0) {
      best = std::min(best, std::chrono::duration<double>(end->since(*begin)).count());
    }
  }
  return best;
}

double measure_flops(const Context& context, DType dtype, GpuStream& stream) {
  const std::int64_t size = dtype == DType::f32 ? kProductSize32 : kProductSize;
  const auto choices = context.products.choices(
      {.dtype = dtype, .result = dtype, .rows = size, .depth = size, .columns = size});
  check(!choices.empty(), fmt::format("cuda: no product in {}", name_of(dtype)));
  const auto plan = choices.front().make();
  const auto workspace = allocate_gpu_memory(choices.front().workspace_bytes);
  const auto bytes = static_cast<std::size_t>(size * size) * size_of(dtype);
  const auto memory = allocate_gpu_memory(3 * bytes);
  // Not zeros: with zeros a chip draws less power and so keeps a higher clock.
  constexpr std::byte kSomeNumber{0x3C};
  stream.fill(memory->data(), kSomeNumber, 2 * bytes);
  const double seconds = shortest_seconds(stream, [&] {
    plan->launch(stream.handle(), {.a = memory->data(),
                                   .b = memory->data() + bytes,
                                   .c = memory->data() + 2 * bytes,
                                   .workspace = workspace->data()});
  });
  return 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size) /
         seconds;
}

double measure_bandwidth(GpuStream& stream) {
  const auto memory = allocate_gpu_memory(3 * kArrayBytes);
  std::byte* const data = memory->data();
  const double seconds = shortest_seconds(stream, [&] {
    add(stream.handle(), {.dtype = DType::f32,
                          .count = kArrayBytes / static_cast<std::int64_t>(sizeof(float)),
                          .a = data,
                          .b = data + kArrayBytes,
                          .y = data + 2 * kArrayBytes});
  });
  return 3.0 * static_cast<double>(kArrayBytes) / seconds;
}

}  // namespace

Ceiling measure_ceiling(const Context& context, DType dtype) {
  GpuStream stream;
  const double product = measure_flops(context, dtype, stream);
  return {.flops_per_second = product,
          .product_flops_per_second = product,
          .bytes_per_second = measure_bandwidth(stream)};
}

double measure_product(const Context& context, DType dtype) {
  GpuStream stream;
  return measure_flops(context, dtype, stream);
}

double measure_clock() {
  // Long compared with the steps of the device's timer, and short enough that clocks do not drop
  // while one multiprocessor is busy.
  constexpr std::uint64_t kWindow = 2'000'000;
  GpuStream stream;
  const auto memory = allocate_gpu_memory(sizeof(ClockCount));
  ClockCount count;
  count_cycles(stream.handle(), kWindow, reinterpret_cast<ClockCount*>(memory->data()));
  stream.download(memory->data(), std::as_writable_bytes(std::span(&count, 1)));
  stream.synchronize();
  constexpr double kNanosecondsPerSecond = 1e9;
  return kNanosecondsPerSecond * static_cast<double>(count.cycles) /
         static_cast<double>(count.nanoseconds);
}

}  // namespace bench::cuda
