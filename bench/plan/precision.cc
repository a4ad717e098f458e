#include "bench/plan/precision.h"

#include "models/base/errors.h"

namespace bench {
namespace {

std::string gigaflops(double flops_per_second) {
  return fmt::format("{:.0f} GFLOP/s", flops_per_second / 1e9);
}

Precision faster_half(Backend& backend) {
  const Support bf16 = computes_in(backend, DType::bf16);
  const Support f16 = computes_in(backend, DType::f16);
  const auto chosen = [](DType dtype, const std::string& why) {
    return Precision{.dtype = dtype,
                     .note = fmt::format("--use_fp16: computing in {}; {}", name_of(dtype), why)};
  };
  if (!bf16 && !f16) {
    throw UsageError(fmt::format("--use_fp16: {}; {}; omit this flag to compute in f32",
                                 f16.why_not, bf16.why_not));
  }
  if (!bf16 || !f16) {
    return f16 ? chosen(DType::f16, bf16.why_not) : chosen(DType::bf16, f16.why_not);
  }
  const auto of_bf16 = backend.measure_product(DType::bf16);
  const auto of_f16 = backend.measure_product(DType::f16);
  if (!of_bf16 || !of_f16) {
    return chosen(DType::f16, "this device is not optimized for either type");
  }
  // Most devices compute both at one rate. The choice must not depend on the noise of the timing.
  constexpr double kClearlyFaster = 1.1;
  const bool bf16_wins = *of_bf16 > kClearlyFaster * *of_f16;
  return chosen(bf16_wins ? DType::bf16 : DType::f16,
                fmt::format("a matrix product ran at {} in bf16 and at {} in f16{}",
                            gigaflops(*of_bf16), gigaflops(*of_f16),
                            bf16_wins ? "" : "; bf16 is chosen only if it is 10 % faster"));
}

/// All ranks need rank 0's type, because they add their gradients. A checkpoint's type is replaced
/// if the device does not support it.
Precision earlier_half(const EarlierHalf& earlier, Backend& backend) {
  const std::string_view name = name_of(earlier.dtype);
  const bool of_rank_0 = earlier.source == EarlierHalf::Source::rank_0;
  const Support support = computes_in(backend, earlier.dtype);
  if (support) {
    return {.dtype = earlier.dtype,
            .note = fmt::format("--use_fp16: computing in {}, like {}", name,
                                of_rank_0 ? "rank 0" : "the checkpoint")};
  }
  if (of_rank_0) {
    throw UsageError(
        fmt::format("--use_fp16: rank 0 computes in {}, which this rank does not support: {}; use "
                    "a --dtype that all ranks support",
                    name, support.why_not));
  }
  Precision other = faster_half(backend);
  other.note += fmt::format(
      "; the checkpoint was computed in {}, so the numbers differ from those of a run without "
      "interruption",
      name);
  return other;
}

/// Names what the user can type instead of a 16-bit type that the device does not support.
std::string instead_of(DType dtype, const Backend& backend) {
  const DType other = dtype == DType::f16 ? DType::bf16 : DType::f16;
  const std::string other_half =
      computes_in(backend, other) ? fmt::format("--dtype={} or ", name_of(other)) : "";
  return fmt::format("use {}--dtype=f32, or --device=reference, which is slow", other_half);
}

}  // namespace

void Precision::apply(RunSettings& settings) const {
  settings.workload.dtype = dtype;
  if (!note.empty()) {
    settings.notices.push_back(note);
  }
}

Precision choose_precision(const Workload& workload, Backend& backend) {
  if (workload.choose_half) {
    return workload.earlier_half ? earlier_half(*workload.earlier_half, backend)
                                 : faster_half(backend);
  }
  if (is_half(workload.dtype)) {
    if (const Support support = computes_in(backend, workload.dtype); !support) {
      throw UsageError(fmt::format("--dtype={}: {}; {}", name_of(workload.dtype), support.why_not,
                                   instead_of(workload.dtype, backend)));
    }
  }
  return {.dtype = workload.dtype, .note = ""};
}

std::string describe_precision(const Workload& workload) {
  if (workload.int8) {
    return "int8";
  }
  const std::string_view computed = name_of(workload.dtype);
  return workload.training() && is_half(workload.dtype)
             ? fmt::format("{} (f32 variables)", computed)
             : std::string(computed);
}

}  // namespace bench
