#include "models/ops/rnn.h"

#include <cmath>

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  RnnCell cell = RnnCell::lstm;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t units = 0;
  std::int64_t directions = 1;
  bool hidden_bias = false;
  bool lengths = false;
  double forget_bias = 0;
};

KernelCase make_case(const Spec& spec) {
  const std::int64_t gates = gates_of(spec.cell);
  // PyTorch's deviation, so that gates do not saturate.
  const InputFill weights{.scale = 1 / std::sqrt(3.0 * static_cast<double>(spec.units))};
  const TensorType bias{.shape = {spec.directions * gates * spec.units}};
  KernelCase result{
      .name = "rnn_" + spec.name,
      .op = &kRnn,
      .attributes = RnnAttributes{.cell = spec.cell,
                                  .hidden_bias = spec.hidden_bias,
                                  .lengths = spec.lengths,
                                  .forget_bias = spec.forget_bias},
      .inputs = {{.shape = {spec.steps, spec.batch, spec.inputs}},
                 {.shape = {spec.directions, gates, spec.units, spec.inputs}},
                 {.shape = {spec.directions, gates, spec.units, spec.units}},
                 bias},
      .fills = {{}, weights, weights, weights},
      .weights = {1, 2, 3},
      // ReLU has a kink.
      .smooth = spec.cell != RnnCell::relu,
      // A gradient's sum is over the steps and sequences, and errors of a state go on to the next.
      .reduction = spec.steps * (spec.batch + spec.inputs + spec.units)};
  if (spec.hidden_bias) {
    result.weights.push_back(result.inputs.size());
    result.inputs.push_back(bias);
    result.fills.push_back(weights);
  }
  if (spec.lengths) {
    result.inputs.push_back({.dtype = DType::s32, .shape = {spec.batch}});
    result.fills.push_back(
        {.kind = InputFill::Kind::labels, .scale = static_cast<double>(spec.steps + 1)});
  }
  return result;
}

}  // namespace

std::vector<KernelCase> rnn_cases() {
  std::vector<KernelCase> cases;
  for (const RnnCell cell : {RnnCell::relu, RnnCell::tanh, RnnCell::lstm, RnnCell::gru_reset_before,
                             RnnCell::gru_reset_after}) {
    const std::string name(name_of(cell));
    for (const Spec& spec : std::vector<Spec>{
             {.name = name, .steps = 5, .batch = 4, .inputs = 24, .units = 32},
             {.name = name + "_bidirectional",
             .steps = 4,
             .batch = 50,
             .inputs = 10,
             .units = 16,
             .directions = 2,
             .hidden_bias = true},
             {.name = name + "_large", .steps = 3, .batch = 48, .inputs = 48, .units = 64},
             {.name = name + "_odd", .steps = 3, .batch = 1, .inputs = 7, .units = 5},
             {.name = name + "_two_steps",
             .steps = 2,
             .batch = 2,
             .inputs = 16,
             .units = 16,
             .hidden_bias = true},
             {.name = name + "_lengths",
             .steps = 4,
             .batch = 5,
             .inputs = 6,
             .units = 8,
             .directions = 2,
             .hidden_bias = true,
             .lengths = true},
         }) {
      Spec one = spec;
      one.cell = cell;
      cases.push_back(make_case(one));
    }
  }
  cases.push_back(make_case({.name = "lstm_forget_bias",
                             .steps = 4,
                             .batch = 3,
                             .inputs = 10,
                             .units = 16,
                             .directions = 2,
                             .forget_bias = 1}));
  return cases;
}

}  // namespace bench
