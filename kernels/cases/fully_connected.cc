#include "models/ops/fully_connected.h"

#include <algorithm>

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  Epilogue epilogue = {};
  bool exact = false;
  double epsilons = 8;
};

KernelCase make_case(const Spec& spec) {
  const InputFill integers{.kind = InputFill::Kind::integers, .scale = 4};
  const InputFill fill = spec.exact ? integers : InputFill{};
  KernelCase result{.name = "fully_connected_" + spec.name,
                    .op = &kFullyConnected,
                    .attributes = FullyConnectedAttributes{.epilogue = spec.epilogue},
                    .inputs = {{.shape = {spec.rows, spec.in}}, {.shape = {spec.out, spec.in}}},
                    .fills = {fill, fill},
                    .weights = {1},
                    .exact = spec.exact,
                    .reduction = std::max({spec.rows, spec.in, spec.out}),
                    .epsilons = spec.epsilons};
  if (spec.epilogue.bias) {
    result.weights.push_back(result.inputs.size());
    result.inputs.push_back({.shape = {spec.out}});
    result.fills.push_back(fill);
  }
  return result;
}

}  // namespace

std::vector<KernelCase> fully_connected_cases() {
  constexpr auto kRelu = ActivationKind::relu;
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "plain", .rows = 8, .in = 64, .out = 32},
           {.name = "bias", .rows = 8, .in = 64, .out = 32, .epilogue = {.bias = true}},
           {.name = "bias_relu",
           .rows = 8,
           .in = 48,
           .out = 40,
           .epilogue = {.bias = true, .activation = kRelu}},
           {.name = "relu", .rows = 4, .in = 16, .out = 16, .epilogue = {.activation = kRelu}},
           {.name = "bias_relu6",
           .rows = 8,
           .in = 48,
           .out = 40,
           .epilogue = {.bias = true, .activation = ActivationKind::relu6}},
           {.name = "bias_sigmoid",
           .rows = 8,
           .in = 8,
           .out = 40,
           .epilogue = {.bias = true, .activation = ActivationKind::sigmoid}},
           {.name = "bias_hard_sigmoid",
           .rows = 8,
           .in = 8,
           .out = 40,
           .epilogue = {.bias = true, .activation = ActivationKind::hard_sigmoid}},
           {.name = "odd", .rows = 5, .in = 37, .out = 11, .epilogue = {.bias = true}},
           {.name = "batch1", .rows = 1, .in = 128, .out = 19, .epilogue = {.bias = true}},
           {.name = "imagenet", .rows = 2, .in = 96, .out = 1001, .epilogue = {.bias = true}},
           {.name = "exact",
           .rows = 8,
           .in = 64,
           .out = 32,
           .epilogue = {.bias = true},
           .exact = true},
           // More terms in the data gradient than one accumulator should add: in one, some of
           // these elements are off by more than this.
           {.name = "wide", .rows = 8, .in = 480, .out = 4096, .epsilons = 0.25},
           {.name = "wide_exact", .rows = 4, .in = 48, .out = 1088, .exact = true},
           {.name = "wide_odd", .rows = 4, .in = 40, .out = 1001, .exact = true},
       }) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace bench
