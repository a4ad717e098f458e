#include "models/ops/bias_add.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, bool exact) {
  const InputFill integers{.kind = InputFill::Kind::integers, .scale = 8};
  const InputFill fill = exact ? integers : InputFill{};
  return {.name = "bias_add_" + name,
          .op = &kBiasAdd,
          .attributes = {},
          .inputs = {{.shape = x}, {.shape = {x[1]}}},
          .fills = {fill, fill},
          .weights = {1},
          .exact = exact,
          .reduction = x.elements() / x[1]};
}

}  // namespace

std::vector<KernelCase> bias_add_cases() {
  std::vector<KernelCase> cases{
      make_case("image", {2, 16, 6, 6}, false), make_case("image_exact", {2, 16, 6, 6}, true),
      make_case("image_odd", {3, 5, 7, 3}, false), make_case("matrix", {8, 37}, false),
      make_case("matrix_exact", {8, 37}, true)};
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(make_case(fmt::format("channels_{}", channels), {2, channels, 5, 7}, false));
  }
  return cases;
}

}  // namespace bench
