#include "models/ops/conv2d.h"

#include <algorithm>
#include <optional>

#include "kernels/cases/cases.h"

namespace bench {
namespace {

struct Spec {
  std::string name;
  Shape x;
  std::int64_t filters = 0;
  Window window = {};
  std::int64_t groups = 1;
  Epilogue epilogue = {};
  bool exact = false;
  std::optional<BatchNormAttributes> batch_norm = {};
  InputFill fill = {};
};

void add_batch_norm(KernelCase& result, const BatchNormAttributes& norm, const Shape& y) {
  const auto add_vector = [&](const InputFill& fill) {
    result.weights.push_back(result.inputs.size());
    result.inputs.push_back({.shape = {y[1]}});
    result.fills.push_back(fill);
  };
  if (norm.scale) {
    add_vector({.mean = 1, .scale = 0.5});
  }
  add_vector({});
  if (norm.epilogue.residual) {
    result.inputs.push_back({.shape = y});
    result.fills.push_back({});
  }
}

KernelCase make_case(const Spec& spec) {
  const Window& window = spec.window;
  const auto [kernel_height, kernel_width] = window.kernel;
  const Shape w{spec.filters, spec.x[1] / spec.groups, kernel_height, kernel_width};
  const Shape y{spec.x[0], spec.filters, window.output_extent(0, spec.x[2]),
                window.output_extent(1, spec.x[3])};
  const InputFill fill =
      spec.exact ? InputFill{.kind = InputFill::Kind::integers, .scale = 4.0} : spec.fill;
  const std::int64_t taps = kernel_height * kernel_width;
  KernelCase result{
      .name = "conv2d_" + spec.name,
      .op = &kConv2d,
      .attributes = Conv2dAttributes{.window = window,
                                     .groups = spec.groups,
                                     .epilogue = spec.epilogue,
                                     .batch_norm = spec.batch_norm},
      .inputs = {{.shape = spec.x}, {.shape = w}},
      .fills = {fill, fill},
      .weights = {1},
      .exact = spec.exact,
      .reduction = std::max({w[1] * taps, w[0] / spec.groups * taps, y[0] * y[2] * y[3]})};
  if (spec.epilogue.bias) {
    result.weights.push_back(result.inputs.size());
    result.inputs.push_back({.shape = {spec.filters}});
    result.fills.push_back(fill);
  }
  if (spec.epilogue.residual) {
    result.inputs.push_back({.shape = y});
    result.fills.push_back(fill);
  }
  if (spec.batch_norm) {
    add_batch_norm(result, *spec.batch_norm, y);
  }
  return result;
}

constexpr Window square(std::int64_t kernel, std::int64_t stride, std::int64_t before,
                        std::int64_t after) {
  return {.kernel = {kernel, kernel},
          .stride = {stride, stride},
          .pad_before = {before, before},
          .pad_after = {after, after}};
}

std::vector<KernelCase> make_cases() {
  constexpr auto kRelu = ActivationKind::relu;
  const Window same3 = square(3, 1, 1, 1);
  std::vector<KernelCase> cases;
  for (const Spec& spec : std::vector<Spec>{
           {.name = "1x1", .x = {2, 32, 7, 7}, .filters = 64, .window = square(1, 1, 0, 0)},
           {.name = "1x1_stride2", .x = {2, 16, 8, 8}, .filters = 32, .window = square(1, 2, 0, 0)},
           {.name = "1x1_stride2_odd",
           .x = {2, 16, 7, 7},
           .filters = 16,
           .window = square(1, 2, 0, 0)},
           {.name = "3x3_same", .x = {2, 16, 8, 8}, .filters = 16, .window = same3},
           {.name = "3x3_valid", .x = {2, 16, 8, 6}, .filters = 32, .window = square(3, 1, 0, 0)},
           // Blocks of channels enough for several threads.
           {.name = "3x3_blocks",
           .x = {3, 64, 6, 7},
           .filters = 32,
           .window = same3,
           .epilogue = {.bias = true}},
           {.name = "3x3_blocks_stride2",
           .x = {3, 32, 7, 8},
           .filters = 64,
           .window = square(3, 2, 1, 1)},
           {.name = "3x3_stride2_symmetric",
           .x = {2, 16, 8, 8},
           .filters = 16,
           .window = square(3, 2, 1, 1)},
           {.name = "3x3_stride2_asymmetric",
           .x = {2, 16, 8, 8},
           .filters = 16,
           .window = square(3, 2, 0, 1)},
           {.name = "7x7_stem", .x = {2, 3, 18, 18}, .filters = 16, .window = square(7, 2, 3, 3)},
           {.name = "5x5_one_channel",
           .x = {2, 1, 12, 12},
           .filters = 32,
           .window = square(5, 1, 2, 2)},
           {.name = "3x1",
           .x = {2, 8, 6, 9},
           .filters = 8,
           .window = {.kernel = {3, 1}, .pad_before = {1, 0}, .pad_after = {1, 0}}},
           {.name = "strides_2_1",
           .x = {2, 8, 9, 6},
           .filters = 8,
           .window =
                {.kernel = {3, 3}, .stride = {2, 1}, .pad_before = {1, 1}, .pad_after = {1, 1}}},
           {.name = "odd_channels", .x = {2, 13, 6, 5}, .filters = 21, .window = same3},
           {.name = "odd_channels_1x1",
           .x = {3, 19, 5, 5},
           .filters = 7,
           .window = square(1, 1, 0, 0)},
           {.name = "batch1", .x = {1, 16, 9, 9}, .filters = 24, .window = same3},
           {.name = "one_pixel", .x = {8, 32, 1, 1}, .filters = 16, .window = square(1, 1, 0, 0)},
           {.name = "grouped", .x = {2, 32, 6, 6}, .filters = 32, .window = same3, .groups = 4},
           {.name = "grouped_odd", .x = {2, 6, 6, 6}, .filters = 9, .window = same3, .groups = 3},
           {.name = "depthwise", .x = {2, 24, 7, 7}, .filters = 24, .window = same3, .groups = 24},
           {.name = "depthwise_stride2",
           .x = {2, 16, 8, 8},
           .filters = 16,
           .window = square(3, 2, 0, 1),
           .groups = 16},
           {.name = "dilated",
           .x = {2, 8, 9, 9},
           .filters = 16,
           .window =
                {.kernel = {3, 3}, .dilation = {2, 2}, .pad_before = {2, 2}, .pad_after = {2, 2}}},
           {.name = "1x7",
           .x = {2, 16, 9, 8},
           .filters = 24,
           .window = {.kernel = {1, 7}, .pad_before = {0, 3}, .pad_after = {0, 3}}},
           {.name = "7x1",
           .x = {2, 16, 9, 8},
           .filters = 24,
           .window = {.kernel = {7, 1}, .pad_before = {3, 0}, .pad_after = {3, 0}}},
           {.name = "1x3",
           .x = {2, 16, 9, 8},
           .filters = 24,
           .window = {.kernel = {1, 3}, .pad_before = {0, 1}, .pad_after = {0, 1}}},
           {.name = "grouped_32x4",
           .x = {2, 128, 6, 6},
           .filters = 128,
           .window = same3,
           .groups = 32},
           {.name = "grouped_32x4_stride2",
           .x = {2, 128, 7, 7},
           .filters = 128,
           .window = square(3, 2, 1, 1),
           .groups = 32},
           {.name = "grouped_1x1", .x = {2, 24, 6, 6}, .filters = 12, .window = {}, .groups = 3},
           {.name = "depthwise_5x5",
           .x = {2, 24, 8, 8},
           .filters = 24,
           .window = square(5, 1, 2, 2),
           .groups = 24},
           {.name = "depthwise_5x5_stride2",
           .x = {2, 16, 8, 8},
           .filters = 16,
           .window = square(5, 2, 1, 2),
           .groups = 16},
           {.name = "depthwise_7x7",
           .x = {2, 20, 9, 9},
           .filters = 20,
           .window = square(7, 1, 3, 3),
           .groups = 20},
           {.name = "depthwise_7x7_stride2",
           .x = {2, 16, 10, 10},
           .filters = 16,
           .window = square(7, 2, 2, 3),
           .groups = 16},
           {.name = "depthwise_58",
           .x = {2, 58, 7, 7},
           .filters = 58,
           .window = square(3, 1, 1, 1),
           .groups = 58},
           {.name = "depthwise_58_stride2",
           .x = {2, 58, 8, 8},
           .filters = 58,
           .window = square(3, 2, 1, 1),
           .groups = 58},
           {.name = "depthwise_116",
           .x = {2, 116, 5, 5},
           .filters = 116,
           .window = square(3, 1, 1, 1),
           .groups = 116},
           {.name = "depthwise_odd",
           .x = {2, 23, 7, 7},
           .filters = 23,
           .window = square(3, 2, 0, 1),
           .groups = 23},
           {.name = "depthwise_valid",
           .x = {2, 24, 8, 6},
           .filters = 24,
           .window = square(3, 1, 0, 0),
           .groups = 24},
           {.name = "depthwise_5x5_valid_stride2",
           .x = {2, 20, 9, 8},
           .filters = 20,
           .window = square(5, 2, 0, 0),
           .groups = 20},
           {.name = "depthwise_5x5_44",
           .x = {2, 44, 7, 7},
           .filters = 44,
           .window = square(5, 1, 2, 2),
           .groups = 44},
           // More channels than a block of a GPU has, and images that share one.
           {.name = "depthwise_200",
           .x = {5, 200, 6, 3},
           .filters = 200,
           .window = square(3, 1, 1, 1),
           .groups = 200},
           {.name = "depthwise_dilated",
           .x = {2, 16, 9, 9},
           .filters = 16,
           .window =
                {.kernel = {3, 3}, .dilation = {2, 2}, .pad_before = {2, 2}, .pad_after = {2, 2}},
           .groups = 16},
           {.name = "depthwise_strides_2_1",
           .x = {2, 8, 9, 6},
           .filters = 8,
           .window =
                {.kernel = {3, 3}, .stride = {2, 1}, .pad_before = {1, 1}, .pad_after = {1, 1}},
           .groups = 8},
           {.name = "squeeze", .x = {4, 1152, 1, 1}, .filters = 48, .window = {}},
           {.name = "squeeze_odd",
           .x = {3, 17, 1, 1},
           .filters = 8,
           .window = {},
           .epilogue = {.bias = true}},
           {.name = "excite_sigmoid",
           .x = {4, 8, 1, 1},
           .filters = 96,
           .window = {},
           .epilogue = {.bias = true, .activation = ActivationKind::sigmoid}},
           {.name = "excite_hard_sigmoid",
           .x = {4, 8, 1, 1},
           .filters = 72,
           .window = {},
           .epilogue = {.bias = true, .activation = ActivationKind::hard_sigmoid}},
           {.name = "bias_relu6",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = same3,
           .epilogue = {.bias = true, .activation = ActivationKind::relu6}},
           {.name = "depthwise_relu6",
           .x = {2, 24, 7, 7},
           .filters = 24,
           .window = same3,
           .groups = 24,
           .epilogue = {.activation = ActivationKind::relu6}},
           {.name = "depthwise_bias_residual_sigmoid",
           .x = {2, 24, 7, 7},
           .filters = 24,
           .window = square(5, 1, 2, 2),
           .groups = 24,
           .epilogue = {.bias = true, .residual = true, .activation = ActivationKind::sigmoid}},
           {.name = "residual_relu6",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = square(1, 1, 0, 0),
           .epilogue = {.residual = true, .activation = ActivationKind::relu6}},
           {.name = "relu",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = same3,
           .epilogue = {.activation = kRelu}},
           {.name = "bias",
           .x = {2, 16, 6, 6},
           .filters = 20,
           .window = same3,
           .epilogue = {.bias = true}},
           {.name = "bias_relu",
           .x = {2, 3, 12, 12},
           .filters = 32,
           .window = square(5, 1, 2, 2),
           .epilogue = {.bias = true, .activation = kRelu}},
           {.name = "residual",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = square(1, 1, 0, 0),
           .epilogue = {.residual = true}},
           {.name = "residual_relu",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = square(1, 1, 0, 0),
           .epilogue = {.residual = true, .activation = kRelu}},
           {.name = "bias_residual_relu",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = same3,
           .epilogue = {.bias = true, .residual = true, .activation = kRelu}},
           {.name = "exact_3x3", .x = {2, 16, 6, 6}, .filters = 16, .window = same3, .exact = true},
           {.name = "exact_1x1_stride2",
           .x = {2, 16, 8, 8},
           .filters = 16,
           .window = square(1, 2, 0, 0),
           .exact = true},
           {.name = "exact_grouped",
           .x = {2, 12, 6, 6},
           .filters = 8,
           .window = square(3, 2, 0, 1),
           .groups = 4,
           .exact = true},
           {.name = "exact_bias_residual",
           .x = {2, 16, 6, 6},
           .filters = 16,
           .window = same3,
           .epilogue = {.bias = true, .residual = true},
           .exact = true},
           {.name = "batch_norm",
           .x = {4, 16, 6, 6},
           .filters = 32,
           .window = same3,
           .batch_norm = BatchNormAttributes{}},
           {.name = "batch_norm_relu_1x1",
           .x = {3, 24, 7, 5},
           .filters = 64,
           .window = square(1, 1, 0, 0),
           .batch_norm = BatchNormAttributes{.epilogue = {.activation = kRelu}}},
           {.name = "batch_norm_stride2_no_scale",
           .x = {4, 16, 9, 9},
           .filters = 20,
           .window = square(3, 2, 0, 1),
           .batch_norm = BatchNormAttributes{.scale = false}},
           {.name = "batch_norm_residual_relu",
           .x = {4, 32, 6, 6},
           .filters = 16,
           .window = square(1, 1, 0, 0),
           .batch_norm = BatchNormAttributes{.epilogue = {.residual = true, .activation = kRelu}}},
           {.name = "batch_norm_residual_odd",
           .x = {3, 13, 6, 5},
           .filters = 21,
           .window = same3,
           .batch_norm = BatchNormAttributes{.epilogue = {.residual = true}}},
           {.name = "batch_norm_grouped",
           .x = {4, 24, 6, 6},
           .filters = 24,
           .window = same3,
           .groups = 3,
           .batch_norm = BatchNormAttributes{}},
           // Of so many pixels that a GPU shares a channel's sums among blocks.
           {.name = "batch_norm_many_pixels",
           .x = {3, 16, 30, 30},
           .filters = 64,
           .window = square(1, 1, 0, 0),
           .batch_norm = BatchNormAttributes{.epilogue = {.activation = kRelu}}},
           // Inputs behind a ReLU have a mean, and so have the results.
           {.name = "batch_norm_of_a_mean",
           .x = {4, 16, 8, 8},
           .filters = 16,
           .window = square(1, 1, 0, 0),
           .batch_norm = BatchNormAttributes{},
           .fill = {.mean = 1}},
       }) {
    cases.push_back(make_case(spec));
  }
  return cases;
}

}  // namespace

std::span<const KernelCase> conv2d_cases() {
  static const std::vector<KernelCase> kCases = make_cases();
  return kCases;
}

}  // namespace bench
