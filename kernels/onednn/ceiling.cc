#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "kernels/onednn/context.h"
#include "kernels/runtime/host_memory.h"

namespace bench::onednn {
namespace {

using Clock = std::chrono::steady_clock;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// Sizes for a compute-bound product of about 4 GFLOP per thread, with three arrays that fit in few
// caches.
constexpr double kProductPerThread = 1536.0 * 1536 * 1536 / 2;
constexpr std::size_t kArrayBytes = std::size_t{256} << 20U;
constexpr int kRounds = 8;

/// The shortest of several times, without the first one.
template <class Work>
double shortest_seconds(const Work& work) {
  work();
  double best = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

double measure_flops(const Context& context, DType dtype) {
  const auto size = static_cast<std::int64_t>(
      std::cbrt(kProductPerThread * static_cast<double>(context.team.size())));
  const Desc any({size, size}, data_type(dtype), Tag::any);
  const dnnl::matmul::primitive_desc desc(context.engine, any, any, any);
  dnnl::memory a(desc.src_desc(), context.engine);
  dnnl::memory b(desc.weights_desc(), context.engine);
  dnnl::memory c(desc.dst_desc(), context.engine);
  // Zeros: on these processors the time does not depend on the numbers, but NaN may be slower.
  std::memset(a.get_data_handle(), 0, desc.src_desc().get_size());
  std::memset(b.get_data_handle(), 0, desc.weights_desc().get_size());
  dnnl::stream stream(context.engine);
  dnnl::matmul product(desc);
  const double seconds = shortest_seconds([&] {
    product.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
  });
  return 2 * std::pow(static_cast<double>(size), 3) / seconds;
}

double measure_bandwidth(const Context& context) {
  const auto memory = allocate_host_memory(3 * kArrayBytes);
  cpu::zero_bytes(context.team, memory->data(), 3 * kArrayBytes);
  const auto array = [&](std::size_t index) {
    return reinterpret_cast<float*>(memory->data() + index * kArrayBytes);
  };
  const double seconds = shortest_seconds([&] {
    cpu::add(context.team, {.count = static_cast<std::int64_t>(kArrayBytes / sizeof(float)),
                            .a = array(0),
                            .b = array(1),
                            .y = array(2)});
  });
  return 3.0 * static_cast<double>(kArrayBytes) / seconds;
}

}  // namespace

Ceiling measure_ceiling(const Context& context, DType dtype) {
  return {.flops_per_second = measure_flops(context, dtype),
          .bytes_per_second = measure_bandwidth(context)};
}

}  // namespace bench::onednn
