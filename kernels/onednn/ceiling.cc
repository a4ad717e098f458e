#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/topology.h"
#include "kernels/onednn/context.h"
#include "kernels/onednn/isa.h"
#include "kernels/runtime/host_memory.h"

namespace bench::onednn {
namespace {

using Clock = std::chrono::steady_clock;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// A compute-bound product of about 4 GFLOP per thread.
constexpr double kProductPerThread = 1536.0 * 1536 * 1536 / 2;
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

/// The instructions that kernels for a type use on this processor. Kernels in 16 bits may also
/// widen their operands to f32.
std::vector<cpu::MultiplyAdd> instructions_for(DType dtype) {
  using cpu::MultiplyAdd;
  struct Row {
    DType dtype;
    dnnl::cpu_isa isa;
    MultiplyAdd instruction;
  };
  std::vector<MultiplyAdd> instructions{MultiplyAdd::f32};
  for (const Row& row :
       {Row{DType::bf16, dnnl::cpu_isa::avx512_core_bf16, MultiplyAdd::bf16_pairs},
        Row{DType::bf16, dnnl::cpu_isa::avx512_core_amx, MultiplyAdd::bf16_tiles},
        Row{DType::f16, dnnl::cpu_isa::avx512_core_amx_fp16, MultiplyAdd::f16_tiles},
        Row{DType::s8, dnnl::cpu_isa::avx2_vnni, MultiplyAdd::byte_quads_256},
        Row{DType::s8, dnnl::cpu_isa::avx512_core_vnni, MultiplyAdd::byte_quads},
        Row{DType::s8, dnnl::cpu_isa::avx512_core_amx, MultiplyAdd::byte_tiles}}) {
    if (row.dtype == dtype && has_isa(row.isa)) {
      instructions.push_back(row.instruction);
    }
  }
  return instructions;
}

/// The fastest of the instructions, with flops(team, instruction).
double register_flops(const Context& context, DType dtype,
                      double (*flops)(cpu::ThreadTeam&, cpu::MultiplyAdd)) {
  double most = 0;
  for (const cpu::MultiplyAdd instruction : instructions_for(dtype)) {
    most = std::max(most, flops(context.team, instruction));
  }
  return most;
}

}  // namespace

double product_flops(const Context& context, DType dtype) {
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

double sample_flops(const Context& context, DType dtype) {
  return register_flops(context, dtype, cpu::sample_flops);
}

Ceiling measure_ceiling(const Context& context, DType dtype) {
  const double product = product_flops(context, dtype);
  const double registers = register_flops(context, dtype, cpu::peak_flops);
  Ceiling ceiling{.flops_per_second = std::max(product, registers),
                  .product_flops_per_second = product};
  const auto levels = discover_caches(context.team.processors());
  // Much more than the caches hold.
  constexpr std::size_t kLeastBytes = std::size_t{512} << 20U;
  const std::size_t bytes = std::max(kLeastBytes, levels.empty() ? 0 : 4 * levels.back().bytes);
  const auto memory = allocate_host_memory(bytes);
  cpu::zero_bytes(context.team, memory->data(), bytes);
  const auto bandwidth = [&](std::size_t traversed) {
    return cpu::peak_bandwidth(context.team, {memory->data(), traversed});
  };
  for (const CacheLevel& level : levels) {
    ceiling.caches.push_back({.level = level.level,
                              .bytes = level.bytes,
                              .bytes_per_second = bandwidth(level.bytes / 2)});
  }
  ceiling.bytes_per_second = bandwidth(bytes);
  return ceiling;
}

}  // namespace bench::onednn
