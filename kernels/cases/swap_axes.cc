#include "models/ops/swap_axes.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x) {
  return {.name = "swap_axes_" + name,
          .op = &kSwapAxes,
          .attributes = {},
          .inputs = {{.shape = x}},
          .fills = {{}},
          .weights = {},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> swap_axes_cases() {
  return {make_case("sequences", {5, 3, 16}), make_case("odd", {2, 7, 5}),
          make_case("one_column", {4, 6, 1}), make_case("one_row", {1, 6, 8}),
          make_case("large", {40, 30, 100})};
}

}  // namespace bench
