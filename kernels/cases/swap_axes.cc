#include "models/ops/swap_axes.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, std::size_t first = 0) {
  return {.name = "swap_axes_" + name,
          .op = &kSwapAxes,
          .attributes = SwapAxesAttributes{first},
          .inputs = {{.shape = x}},
          .fills = {{}},
          .weights = {},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> swap_axes_cases() {
  return {make_case("sequences", {5, 3, 16}),      make_case("odd", {2, 7, 5}),
          make_case("one_column", {4, 6, 1}),      make_case("one_row", {1, 6, 8}),
          make_case("large", {40, 30, 100}),       make_case("last", {3, 5, 7}, 1),
          make_case("last_one_row", {4, 1, 9}, 1), make_case("last_large", {2, 81, 361}, 1)};
}

}  // namespace bench
