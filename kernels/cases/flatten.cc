#include "models/ops/flatten.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x) {
  return {.name = "flatten_" + name,
          .op = &kFlatten,
          .attributes = {},
          .inputs = {{.shape = x}},
          .fills = {{}},
          .weights = {},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> flatten_cases() {
  return {make_case("image", {2, 16, 4, 4}), make_case("odd", {3, 5, 7, 3}),
          make_case("one_pixel", {4, 24, 1, 1})};
}

}  // namespace bench
