#include "models/ops/activation.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  ActivationKind kind = ActivationKind::relu;
  InputFill fill = {};
  bool exact = false;
  bool smooth = true;
  double epsilons = 8;
};

KernelCase make_case(const Spec& spec) {
  return {.name = "activation_" + spec.name,
          .op = &kActivation,
          .attributes = ActivationAttributes{.kind = spec.kind},
          .inputs = {{.shape = spec.x}},
          .fills = {spec.fill},
          .weights = {},
          .exact = spec.exact,
          .smooth = spec.smooth,
          .epsilons = spec.epsilons};
}

/// Returns true if each result is an input or a constant.
bool is_exact(ActivationKind kind) {
  return kind == ActivationKind::none || kind == ActivationKind::relu ||
         kind == ActivationKind::relu6;
}

}  // namespace

std::vector<KernelCase> activation_cases() {
  std::vector<KernelCase> cases;
  for (const auto kind :
       {ActivationKind::none, ActivationKind::relu, ActivationKind::relu6, ActivationKind::sigmoid,
        ActivationKind::tanh, ActivationKind::hard_sigmoid, ActivationKind::silu,
        ActivationKind::hard_swish}) {
    Spec spec{.name = "", .x = {}, .kind = kind, .exact = is_exact(kind)};
    // If the output is near 1, the derivative y * (1 - y) or 1 - y * y is mostly y's rounding.
    const bool curved = kind == ActivationKind::sigmoid || kind == ActivationKind::tanh;
    spec.epsilons = curved ? 32 : 8;
    // For these shapes no value is near a kink: 0, 6, -3 or 3.
    spec.fill = {.kind = InputFill::Kind::distinct, .mean = 0.1, .scale = 7.3};
    const auto add = [&](const std::string& suffix, const Shape& x) {
      spec.name = fmt::format("{}{}", name_of(kind), suffix);
      spec.x = x;
      cases.push_back(make_case(spec));
    };
    add("", {2, 16, 6, 6});
    add("_odd", {3, 5, 7, 3});
    add("_matrix", {5, 37});
    add("_vector", {19});
    spec.fill = {.kind = InputFill::Kind::integers, .scale = 7};
    spec.smooth = false;
    add("_kinks", {2, 16, 6, 6});
  }
  return cases;
}

}  // namespace bench
