#include "models/ops/reshape.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, const Shape& y) {
  return {.name = "reshape_" + name,
          .op = &kReshape,
          .attributes = ReshapeAttributes{y},
          .inputs = {{.shape = x}},
          .fills = {{}},
          .weights = {},
          .exact = true};
}

}  // namespace

std::vector<KernelCase> reshape_cases() {
  return {make_case("rows", {5, 3, 16}, {15, 16}), make_case("sequences", {6, 5}, {2, 3, 5}),
          make_case("same", {4, 7}, {4, 7}), make_case("image", {2, 16, 3, 3}, {2, 9, 16})};
}

}  // namespace bench
