#include "models/ops/activation.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& x, ActivationKind kind) {
  return {.name = "activation_" + name,
          .op = &kActivation,
          .attributes = ActivationAttributes{.kind = kind},
          .inputs = {{.shape = x}},
          .fills = {{.kind = InputFill::Kind::away_from_zero}},
          .weights = {},
          .exact = true};
}

std::vector<KernelCase> make_cases() {
  std::vector<KernelCase> cases{
      make_case("relu", {2, 16, 6, 6}, ActivationKind::relu),
      make_case("relu_odd", {3, 5, 7, 3}, ActivationKind::relu),
      make_case("relu_matrix", {5, 37}, ActivationKind::relu),
      make_case("none", {2, 16, 6, 6}, ActivationKind::none),
      make_case("relu_zeros", {2, 16, 6, 6}, ActivationKind::relu),
  };
  // At 0 itself the gradient is 0.
  cases.back().fills = {{.kind = InputFill::Kind::integers, .scale = 1}};
  cases.back().smooth = false;
  return cases;
}

}  // namespace

std::span<const KernelCase> activation_cases() {
  static const std::vector<KernelCase> kCases = make_cases();
  return kCases;
}

}  // namespace bench
