#include "models/ops/multiply.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& shape) {
  return {.name = "multiply_" + name,
          .op = &kMultiply,
          .attributes = {},
          .inputs = {{.shape = shape}, {.shape = shape}},
          .fills = {{}, {}},
          .weights = {},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> multiply_cases() {
  return {make_case("image", {2, 16, 6, 6}), make_case("odd", {3, 5, 7, 3}),
          make_case("matrix", {5, 37}), make_case("vector", {19}), make_case("scalar", {})};
}

}  // namespace bench
