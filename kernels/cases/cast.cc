#include "models/ops/cast.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

/// Rounded, a function is a staircase: no finite differences.
KernelCase make_case(const std::string& name, DType to, const Shape& shape) {
  return {.name = "cast_" + name,
          .op = &kCast,
          .attributes = CastAttributes{to},
          .inputs = {{.shape = shape}},
          .fills = {{}},
          .weights = {},
          .exact = true,
          .smooth = false};
}

}  // namespace

std::vector<KernelCase> cast_cases() {
  return {make_case("to_bf16", DType::bf16, {2, 16, 5, 5}),
          make_case("to_bf16_odd", DType::bf16, {3, 5, 7, 3}),
          make_case("to_bf16_matrix", DType::bf16, {5, 37}),
          make_case("to_f32", DType::f32, {2, 32, 3, 3}),
          make_case("to_f32_matrix", DType::f32, {3, 129})};
}

}  // namespace bench
