#include "kernels/cpu/winograd_passes.h"

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// Tiles along an axis.
std::int64_t tiles_along(std::int64_t outputs) { return (outputs + kOutputs - 1) / kOutputs; }

}  // namespace

WinogradCorner corner_of(const WinogradShape& shape, std::int64_t tile) {
  const std::int64_t wide = tiles_along(shape.out_width);
  const std::int64_t high = tiles_along(shape.out_height);
  const std::int64_t within = tile % (high * wide);
  return {.image = tile / (high * wide),
          .row = within / wide * kOutputs,
          .column = within % wide * kOutputs};
}

std::int64_t tiles_of(const WinogradShape& shape) {
  return shape.batch * tiles_along(shape.out_height) * tiles_along(shape.out_width);
}

const WinogradPasses& winograd_passes(std::int64_t block, DType dtype) {
#if defined(__x86_64__)
  if (block == 16 && dtype == DType::f32) {
    return avx512::kWinogradPasses;
  }
  if (block == 16 && dtype == DType::bf16) {
    return avx512::kBfloat16WinogradPasses;
  }
  if (block == 8 && dtype == DType::f32) {
    return avx2::kWinogradPasses;
  }
#endif
  throw InternalError(
      fmt::format("winograd: no passes for blocks of {} channels in {}", block, name_of(dtype)));
}

}  // namespace bench::cpu
