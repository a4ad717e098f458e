#include "models/ops/spatial_mean.h"

#include "kernels/cases/cases.h"
#include "models/base/errors.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, bool exact) {
  const InputFill integers{.kind = InputFill::Kind::integers, .scale = 8};
  return {.name = "spatial_mean_" + name,
          .op = &kSpatialMean,
          .attributes = {},
          .inputs = {{.shape = x}},
          .fills = {exact ? integers : InputFill{}},
          .weights = {},
          .exact = exact,
          .reduction = x[2] * x[3]};
}

}  // namespace

std::vector<KernelCase> spatial_mean_cases() {
  std::vector<KernelCase> cases{
      make_case("7x7", {2, 32, 7, 7}, false), make_case("8x8_exact", {2, 16, 8, 8}, true),
      make_case("odd", {3, 5, 7, 3}, false), make_case("one_pixel", {4, 16, 1, 1}, true)};
  for (const std::int64_t channels : kChannelCounts) {
    cases.push_back(make_case(fmt::format("channels_{}", channels), {2, channels, 5, 7}, false));
  }
  return cases;
}

}  // namespace bench
