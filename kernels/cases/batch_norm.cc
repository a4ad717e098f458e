#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "kernels/cases/cases.h"
#include "models/base/errors.h"
#include "models/ops/concat_batch_norm.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  bool scale = true;
  Epilogue epilogue = {};
  InputFill fill = {};
  double epsilon = 1e-5;
  double epsilons = 8;
  InputFill beta = {};
};

void add_vector(KernelCase& result, std::int64_t channels, const InputFill& fill) {
  result.weights.push_back(result.inputs.size());
  result.inputs.push_back({.shape = {channels}});
  result.fills.push_back(fill);
}

/// Inputs: x, gamma and beta; statistics for inference; the residual.
KernelCase make_case(const Spec& spec, const OpDef& op) {
  const bool inference = &op == &kBatchNormInference;
  KernelCase result{.name = (inference ? "batch_norm_inference_" : "batch_norm_") + spec.name,
                    .op = &op,
                    .attributes = BatchNormAttributes{.epsilon = spec.epsilon,
                                                      .scale = spec.scale,
                                                      .epilogue = spec.epilogue},
                    .inputs = {{.shape = spec.x}},
                    .fills = {spec.fill},
                    .weights = {},
                    .reduction = inference ? 1 : spec.x[0] * spec.x[2] * spec.x[3],
                    .epsilons = spec.epsilons};
  if (spec.scale) {
    add_vector(result, spec.x[1], {.mean = 1, .scale = 0.5});
  }
  add_vector(result, spec.x[1], spec.beta);
  if (inference) {
    add_vector(result, spec.x[1], {.mean = spec.fill.mean});
    add_vector(result, spec.x[1], {.kind = InputFill::Kind::positive, .mean = 0.5});
  }
  if (spec.epilogue.residual) {
    result.inputs.push_back({.shape = spec.x});
    result.fills.push_back({});
  }
  return result;
}

/// Inputs: dy, x, gamma, statistics, y and a second dy.
KernelCase make_two_gradients_case(const Spec& spec) {
  const BatchNormAttributes attributes{.epsilon = spec.epsilon,
                                       .scale = spec.scale,
                                       .epilogue = spec.epilogue,
                                       .two_gradients = true};
  KernelCase result{.name = "batch_norm_two_gradients_" + spec.name,
                    .op = &kBatchNormBackward,
                    .attributes = attributes,
                    .inputs = {{.shape = spec.x}, {.shape = spec.x}},
                    .fills = {{.mean = 0.1}, spec.fill},
                    .weights = {},
                    .reduction = spec.x[0] * spec.x[2] * spec.x[3]};
  if (spec.scale) {
    add_vector(result, spec.x[1], {.mean = 1, .scale = 0.5});
  }
  add_vector(result, spec.x[1], {.mean = spec.fill.mean, .scale = 0.1});
  add_vector(result, spec.x[1], {.kind = InputFill::Kind::positive, .mean = 0.5});
  if (spec.epilogue.activation != ActivationKind::none) {
    result.inputs.push_back({.shape = spec.x});
    result.fills.push_back(spec.beta);
  }
  result.inputs.push_back({.shape = spec.x});
  result.fills.push_back({});
  return result;
}

/// Inputs: dy, x, gamma, beta and statistics.
KernelCase make_mask_case(const Spec& spec, bool two_gradients) {
  const BatchNormAttributes attributes{.epsilon = spec.epsilon,
                                       .scale = spec.scale,
                                       .epilogue = spec.epilogue,
                                       .two_gradients = two_gradients,
                                       .mask_from_x = true};
  KernelCase result{.name = "batch_norm_mask_from_x_" + spec.name,
                    .op = &kBatchNormBackward,
                    .attributes = attributes,
                    .inputs = {{.shape = spec.x}, {.shape = spec.x}},
                    .fills = {{.mean = 0.1}, spec.fill},
                    .weights = {},
                    .reduction = spec.x[0] * spec.x[2] * spec.x[3]};
  if (spec.scale) {
    add_vector(result, spec.x[1], {.mean = 1, .scale = 0.5});
  }
  add_vector(result, spec.x[1], spec.beta);
  add_vector(result, spec.x[1], {.mean = spec.fill.mean, .scale = 0.1});
  add_vector(result, spec.x[1], {.kind = InputFill::Kind::positive, .mean = 0.5});
  if (two_gradients) {
    result.inputs.push_back({.shape = spec.x});
    result.fills.push_back({});
  }
  return result;
}

/// Batch norm of several tensors' channels.
struct JoinedSpec {
  std::string name;
  std::vector<std::int64_t> channels;
  /// N, H and W of all parts.
  std::array<std::int64_t, 3> extents{};
  bool scale = true;
  ActivationKind activation = ActivationKind::none;
  std::optional<DType> quanta = {};
};

/// Inputs: the parts, gamma, beta and statistics.
KernelCase make_joined_case(const JoinedSpec& spec) {
  constexpr double kQuantum = 1.0 / 32;
  ConcatBatchNormAttributes attributes{
      .norm = {.epsilon = 1e-5, .scale = spec.scale, .epilogue = {.activation = spec.activation}},
      .parts = static_cast<int>(spec.channels.size())};
  if (spec.quanta) {
    attributes.quantize = {.scale = kQuantum, .dtype = *spec.quanta};
  }
  KernelCase result{.name = "concat_batch_norm_" + spec.name,
                    .op = &kConcatBatchNorm,
                    .attributes = attributes,
                    .smooth = false,
                    .quanta = spec.quanta ? 1.0 : 0};
  const auto [batch, height, width] = spec.extents;
  std::int64_t channels = 0;
  for (const std::int64_t part : spec.channels) {
    result.inputs.push_back({.shape = {batch, part, height, width}});
    result.fills.push_back({.mean = 0.5});
    channels += part;
  }
  if (spec.scale) {
    add_vector(result, channels, {.mean = 1, .scale = 0.5});
  }
  // Some quanta and some results of ReLU6 are cut off at either end.
  add_vector(result, channels, {.mean = 3, .scale = 3});
  add_vector(result, channels, {.mean = 0.5});
  add_vector(result, channels, {.kind = InputFill::Kind::positive, .mean = 0.5});
  return result;
}

std::vector<KernelCase> joined_cases() {
  constexpr auto kRelu = ActivationKind::relu;
  constexpr auto kRelu6 = ActivationKind::relu6;
  std::vector<KernelCase> cases;
  for (const JoinedSpec& spec : std::vector<JoinedSpec>{
           {.name = "blocks", .channels = {32, 16, 64}, .extents = {3, 5, 7}, .activation = kRelu},
           {.name = "odd", .channels = {5, 13, 1}, .extents = {2, 7, 5}, .activation = kRelu6},
           {.name = "one", .channels = {20}, .extents = {2, 6, 6}, .scale = false},
           {.name = "one_pixel", .channels = {48, 16}, .extents = {5, 1, 1}, .activation = kRelu},
           // More than a thread's grain and a piece of rows.
           {.name = "large", .channels = {64, 32, 32}, .extents = {2, 30, 31}},
           {.name = "many",
           .channels = {16, 16, 16, 16, 16, 16, 16, 16, 16},
           .extents = {1, 4, 4},
           .scale = false,
           .activation = kRelu},
           // An activation that kernels may leave to a separate node.
           {.name = "sigmoid",
           .channels = {16, 16},
           .extents = {2, 4, 4},
           .activation = ActivationKind::sigmoid},
           {.name = "to_u8",
           .channels = {32, 16},
           .extents = {2, 9, 9},
           .activation = kRelu,
           .quanta = DType::u8},
           {.name = "to_u8_odd",
           .channels = {3, 21, 1},
           .extents = {2, 5, 3},
           .scale = false,
           .activation = kRelu6,
           .quanta = DType::u8},
           {.name = "to_s8", .channels = {64}, .extents = {2, 6, 6}, .quanta = DType::s8}}) {
    cases.push_back(make_joined_case(spec));
  }
  return cases;
}

void add_channel_counts(std::vector<Spec>& specs, const Epilogue& epilogue) {
  for (const std::int64_t channels : kChannelCounts) {
    // Even with few channels, some elements are above 0.
    specs.push_back({.name = fmt::format("channels_{}", channels),
                     .x = {3, channels, 5, 7},
                     .epilogue = epilogue,
                     .beta = {.mean = 0.5, .scale = 0.25}});
  }
}

}  // namespace

std::vector<KernelCase> batch_norm_cases() {
  constexpr auto kRelu = ActivationKind::relu;
  constexpr auto kRelu6 = ActivationKind::relu6;
  std::vector<KernelCase> cases;
  std::vector<Spec> common{
      {.name = "scale", .x = {4, 16, 6, 6}},
      {.name = "no_scale", .x = {4, 16, 6, 6}, .scale = false},
      {.name = "odd_channels", .x = {3, 13, 5, 7}},
      {.name = "one_channel", .x = {3, 1, 8, 8}},
      {.name = "one_pixel", .x = {16, 24, 1, 1}},
      {.name = "relu", .x = {4, 16, 6, 6}, .epilogue = {.activation = kRelu}},
      {.name = "no_scale_relu",
       .x = {2, 32, 4, 4},
       .scale = false,
       .epilogue = {.activation = kRelu}},
      {.name = "residual", .x = {4, 16, 5, 5}, .epilogue = {.residual = true}},
      {.name = "residual_relu",
       .x = {4, 16, 6, 6},
       .epilogue = {.residual = true, .activation = kRelu}},
      {.name = "residual_relu_odd",
       .x = {2, 19, 5, 5},
       .epilogue = {.residual = true, .activation = kRelu}},
      // The mean is a hundred times the deviation. E[x^2] - E[x]^2 in f32 would lose the variance,
      // and the mean's rounding costs a hundred epsilons.
      {.name = "large_mean", .x = {4, 16, 8, 8}, .fill = {.mean = 100}, .epsilons = 200},
      {.name = "large_mean_residual_relu",
       .x = {4, 16, 8, 8},
       .epilogue = {.residual = true, .activation = kRelu},
       .fill = {.mean = -100},
       .epsilons = 200},
      // A beta around 3 puts elements below 0, between, and above 6.
      {.name = "relu6",
       .x = {4, 16, 6, 6},
       .epilogue = {.activation = kRelu6},
       .beta = {.mean = 3, .scale = 3}},
      {.name = "no_scale_relu6_odd",
       .x = {3, 13, 5, 7},
       .scale = false,
       .epilogue = {.activation = kRelu6},
       .beta = {.mean = 3, .scale = 3}},
      {.name = "residual_relu6",
       .x = {4, 16, 5, 5},
       .epilogue = {.residual = true, .activation = kRelu6},
       .beta = {.mean = 3, .scale = 3}},
      // Activations that kernels may leave to a separate node.
      {.name = "sigmoid", .x = {4, 16, 5, 5}, .epilogue = {.activation = ActivationKind::sigmoid}},
      {.name = "residual_hard_sigmoid",
       .x = {4, 16, 5, 5},
       .epilogue = {.residual = true, .activation = ActivationKind::hard_sigmoid},
       .fill = {},
       .beta = {.scale = 2}},
      {.name = "large_epsilon", .x = {4, 16, 6, 6}, .epsilon = 1e-3},
      // Enough elements for a GPU to divide a channel among blocks: with interleaved channels, and
      // with planes.
      {.name = "several_blocks", .x = {2, 64, 16, 20}},
      {.name = "several_blocks_of_planes_relu",
       .x = {5, 3, 64, 64},
       .epilogue = {.activation = kRelu}},
  };
  add_channel_counts(common, {.activation = kRelu});
  for (const Spec& spec : common) {
    cases.push_back(make_case(spec, kBatchNorm));
    cases.push_back(make_case(spec, kBatchNormInference));
  }
  std::vector<Spec> joined{
      {.name = "plain", .x = {3, 13, 5, 7}},
      {.name = "residual", .x = {4, 16, 5, 5}, .epilogue = {.residual = true}},
      {.name = "relu", .x = {4, 16, 6, 6}, .scale = false, .epilogue = {.activation = kRelu}},
      {.name = "residual_relu",
       .x = {4, 32, 6, 6},
       .epilogue = {.residual = true, .activation = kRelu}},
      {.name = "residual_relu6_odd",
       .x = {2, 19, 5, 5},
       .epilogue = {.residual = true, .activation = kRelu6},
       .beta = {.mean = 3, .scale = 3}},
      {.name = "residual_sigmoid",
       .x = {4, 16, 5, 5},
       .epilogue = {.residual = true, .activation = ActivationKind::sigmoid}},
      {.name = "several_blocks_residual_relu",
       .x = {2, 64, 16, 20},
       .epilogue = {.residual = true, .activation = kRelu}},
      {.name = "several_blocks_of_planes_residual",
       .x = {5, 3, 64, 64},
       .epilogue = {.residual = true}},
  };
  add_channel_counts(joined, {.residual = true, .activation = kRelu});
  for (const Spec& spec : joined) {
    cases.push_back(make_two_gradients_case(spec));
  }
  std::vector<Spec> masked{
      {.name = "relu", .x = {4, 16, 6, 6}, .epilogue = {.activation = kRelu}},
      {.name = "no_scale_odd",
       .x = {3, 13, 5, 7},
       .scale = false,
       .epilogue = {.activation = kRelu}},
      {.name = "large_mean",
       .x = {4, 24, 6, 6},
       .epilogue = {.activation = kRelu},
       .fill = {.mean = 10}},
      {.name = "several_blocks", .x = {2, 64, 16, 20}, .epilogue = {.activation = kRelu}},
      // An activation that kernels may leave to the node's parts.
      {.name = "sigmoid", .x = {4, 16, 5, 5}, .epilogue = {.activation = ActivationKind::sigmoid}},
  };
  add_channel_counts(masked, {.activation = kRelu});
  for (const Spec& spec : masked) {
    cases.push_back(make_mask_case(spec, false));
  }
  cases.push_back(make_mask_case(
      {.name = "two_gradients", .x = {4, 32, 6, 6}, .epilogue = {.activation = kRelu}}, true));
  std::ranges::move(joined_cases(), std::back_inserter(cases));
  return cases;
}

}  // namespace bench
