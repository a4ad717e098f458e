#include "models/ops/quantized.h"

#include "kernels/cases/cases.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/flatten.h"
#include "models/ops/pool.h"
#include "models/ops/spatial_pad.h"

namespace bench {
namespace {

constexpr double kQuanta = 127;
/// A rounding apart, since a sum in f32 may fall on the other side of a tie.
constexpr double kOneQuantum = 1;

/// Whole numbers that a type holds.
InputFill quanta_of(DType dtype) {
  return dtype == DType::u8 ? InputFill{.kind = InputFill::Kind::labels, .scale = 256}
                            : InputFill{.kind = InputFill::Kind::integers, .scale = kQuanta};
}

void add_input(KernelCase& to, DType dtype, const Shape& shape, const InputFill& fill) {
  to.inputs.push_back({.dtype = dtype, .shape = shape});
  to.fills.push_back(fill);
}

struct LayerSpec {
  std::string name;
  Shape x;
  std::int64_t filters = 0;
  Window window = {};
  std::int64_t groups = 1;
  Epilogue epilogue = {};
  DType from = DType::u8;
  DType residual = DType::u8;
  DType to = DType::u8;
};

/// Weight scales that bring the sums to about +-1, and quanta of an output that ends at 3.
void add_layer_inputs(KernelCase& to, const LayerSpec& spec, const Shape& w, std::int64_t terms) {
  add_input(to, spec.from, spec.x, quanta_of(spec.from));
  add_input(to, DType::s8, w, quanta_of(DType::s8));
  const double scale = 1.0 / (kQuanta * kQuanta * static_cast<double>(terms));
  add_input(to, DType::f32, {spec.filters}, {.mean = 20 * scale, .scale = 2 * scale});
  to.weights = {1, 2};
  if (spec.epilogue.bias) {
    to.weights.push_back(to.inputs.size());
    add_input(to, DType::f32, {spec.filters}, {});
  }
  to.exact = false;
  to.smooth = false;
  to.reduction = terms;
}

constexpr double kInputScale = 0.5;

QuantizedOutput output_of(DType dtype) {
  return {.dtype = dtype, .scale = is_quantized(dtype) ? 3 / highest_of(dtype) : 1};
}

KernelCase conv_case(const LayerSpec& spec) {
  const auto [height, width] = spec.window.kernel;
  KernelCase result{
      .name = "quantized_conv2d_" + spec.name,
      .op = &kQuantizedConv2d,
      .attributes = QuantizedConv2dAttributes{
          .conv = {.window = spec.window, .groups = spec.groups, .epilogue = spec.epilogue},
          .input_scale = kInputScale,
          .residual_scale = 1 / kQuanta,
          .output = output_of(spec.to)}};
  const std::int64_t channels = spec.x[1] / spec.groups;
  add_layer_inputs(result, spec, {spec.filters, channels, height, width},
                   channels * height * width);
  if (spec.epilogue.residual) {
    add_input(result, spec.residual,
              {spec.x[0], spec.filters, spec.window.output_extent(0, spec.x[2]),
               spec.window.output_extent(1, spec.x[3])},
              is_quantized(spec.residual) ? quanta_of(spec.residual) : InputFill{});
  }
  result.quanta = is_quantized(spec.to) ? kOneQuantum : 0;
  return result;
}

KernelCase layer_case(const LayerSpec& spec) {
  KernelCase result{
      .name = "quantized_fully_connected_" + spec.name,
      .op = &kQuantizedFullyConnected,
      .attributes = QuantizedFullyConnectedAttributes{.layer = {.epilogue = spec.epilogue},
                                                      .input_scale = kInputScale,
                                                      .output = output_of(spec.to)}};
  add_layer_inputs(result, spec, {spec.filters, spec.x[1]}, spec.x[1]);
  result.quanta = is_quantized(spec.to) ? kOneQuantum : 0;
  return result;
}

constexpr Window square(std::int64_t kernel, std::int64_t stride, std::int64_t before,
                        std::int64_t after) {
  return {.kernel = {kernel, kernel},
          .stride = {stride, stride},
          .pad_before = {before, before},
          .pad_after = {after, after}};
}

void add_layers(std::vector<KernelCase>& cases) {
  constexpr auto kRelu = ActivationKind::relu;
  const Window same3 = square(3, 1, 1, 1);
  const Epilogue bias_relu{.bias = true, .activation = kRelu};
  for (const LayerSpec& spec : std::vector<LayerSpec>{
           {.name = "1x1", .x = {2, 32, 7, 7}, .filters = 64, .epilogue = bias_relu},
           {.name = "1x1_stride2",
           .x = {2, 64, 8, 8},
           .filters = 32,
           .window = square(1, 2, 0, 0),
           .epilogue = {.bias = true},
           .to = DType::s8},
           {.name = "3x3",
           .x = {2, 32, 8, 8},
           .filters = 32,
           .window = same3,
           .epilogue = bias_relu},
           {.name = "3x3_signed",
           .x = {2, 32, 8, 8},
           .filters = 32,
           .window = same3,
           .epilogue = {.bias = true},
           .from = DType::s8,
           .to = DType::s8},
           {.name = "3x3_stride2_asymmetric",
           .x = {2, 16, 9, 9},
           .filters = 24,
           .window = square(3, 2, 0, 1),
           .epilogue = bias_relu},
           {.name = "stem",
           .x = {2, 3, 18, 18},
           .filters = 16,
           .window = square(7, 2, 3, 3),
           .epilogue = bias_relu,
           .from = DType::s8},
           {.name = "one_channel",
           .x = {2, 1, 12, 12},
           .filters = 32,
           .window = square(5, 1, 2, 2),
           .epilogue = bias_relu},
           {.name = "residual",
           .x = {2, 32, 7, 7},
           .filters = 64,
           .epilogue = {.bias = true, .residual = true, .activation = kRelu}},
           {.name = "residual_signed",
           .x = {2, 32, 7, 7},
           .filters = 64,
           .epilogue = {.bias = true, .residual = true, .activation = kRelu},
           .residual = DType::s8},
           {.name = "residual_to_signed",
           .x = {2, 32, 7, 7},
           .filters = 64,
           .epilogue = {.bias = true, .residual = true},
           .residual = DType::s8,
           .to = DType::s8},
           {.name = "residual_real",
           .x = {2, 32, 7, 7},
           .filters = 64,
           .epilogue = {.bias = true, .residual = true},
           .residual = DType::f32,
           .to = DType::f32},
           {.name = "relu6",
           .x = {2, 16, 6, 6},
           .filters = 48,
           .epilogue = {.bias = true, .activation = ActivationKind::relu6}},
           {.name = "depthwise",
           .x = {2, 32, 9, 9},
           .filters = 32,
           .window = same3,
           .groups = 32,
           .epilogue = bias_relu},
           {.name = "depthwise_odd",
           .x = {2, 58, 8, 8},
           .filters = 58,
           .window = square(3, 2, 1, 1),
           .groups = 58,
           .epilogue = {.bias = true},
           .to = DType::s8},
           {.name = "grouped",
           .x = {2, 64, 6, 6},
           .filters = 64,
           .window = same3,
           .groups = 4,
           .epilogue = bias_relu},
           {.name = "odd_channels",
           .x = {2, 13, 6, 5},
           .filters = 21,
           .window = same3,
           .epilogue = bias_relu},
           {.name = "to_real",
           .x = {2, 32, 7, 7},
           .filters = 32,
           .epilogue = {.bias = true},
           .to = DType::f32},
       }) {
    cases.push_back(conv_case(spec));
  }
  cases.push_back(layer_case({.name = "to_real",
                              .x = {4, 96},
                              .filters = 21,
                              .epilogue = {.bias = true},
                              .to = DType::f32}));
  cases.push_back(
      layer_case({.name = "relu", .x = {4, 128}, .filters = 64, .epilogue = bias_relu}));
  cases.push_back(layer_case(
      {.name = "signed", .x = {3, 64}, .filters = 32, .from = DType::s8, .to = DType::s8}));
}

void add_conversions(std::vector<KernelCase>& cases) {
  constexpr double kScale = 0.03125;
  for (const DType dtype : {DType::u8, DType::s8}) {
    const auto name = [&](const std::string& op, const std::string& shape) {
      return fmt::format("{}_{}_{}", op, name_of(dtype), shape);
    };
    const auto make = [&](const std::string& op_name, const OpDef& op, const Attributes& attributes,
                          const std::string& shape_name) {
      KernelCase& made = cases.emplace_back();
      made.name = name(op_name, shape_name);
      made.op = &op;
      made.attributes = attributes;
      made.smooth = false;
      return &made;
    };
    struct Sized {
      const char* name;
      Shape shape;
    };
    for (const auto& [shape_name, shape] :
         {Sized{"images", {2, 3, 9, 7}}, Sized{"wide", {2, 32, 5, 5}}, Sized{"rows", {4, 19}}}) {
      KernelCase* made = make("quantize", kQuantize,
                              QuantizeAttributes{.scale = kScale, .dtype = dtype}, shape_name);
      // Far enough that some are cut off at either end.
      add_input(*made, DType::f32, shape, {.mean = dtype == DType::u8 ? 4.0 : 0, .scale = 3});
      made->quanta = kOneQuantum;
      made = make("dequantize", kDequantize, DequantizeAttributes{.scale = kScale}, shape_name);
      add_input(*made, dtype, shape, quanta_of(dtype));
      made->exact = true;
    }
    KernelCase* mean = make("quantized_spatial_mean", kQuantizedSpatialMean,
                            DequantizeAttributes{.scale = kScale}, "7x7");
    add_input(*mean, dtype, {2, 40, 7, 7}, quanta_of(dtype));
    mean->reduction = 49;
    for (const DType other : {DType::u8, DType::s8}) {
      KernelCase* sum = make("quantized_add", kQuantizedAdd,
                             QuantizedAddAttributes{.first_scale = 1.0 / 64,
                                                    .second_scale = 3.0 / 64,
                                                    .output = {.dtype = dtype, .scale = 1.0 / 32}},
                             fmt::format("of_{}", name_of(other)));
      add_input(*sum, other, {2, 24, 6, 6}, quanta_of(other));
      add_input(*sum, dtype, {2, 24, 6, 6}, quanta_of(dtype));
      sum->quanta = kOneQuantum;
    }
  }
}

/// Ops that are the same on quanta.
void add_movers(std::vector<KernelCase>& cases) {
  const Shape x{2, 24, 8, 8};
  const Window three = square(3, 2, 1, 1);
  struct Mover {
    const char* name;
    const OpDef* op;
    Attributes attributes;
  };
  for (const DType dtype : {DType::u8, DType::s8}) {
    for (const Mover& mover : std::initializer_list<Mover>{
             {"max_pool", &kMaxPool, PoolAttributes{.window = three, .input = x}},
             {"avg_pool", &kAvgPool, PoolAttributes{.window = three, .input = x}},
             {"max_pool_5x5", &kMaxPool, PoolAttributes{.window = square(5, 3, 1, 1), .input = x}},
             {"avg_pool_5x5", &kAvgPool, PoolAttributes{.window = square(5, 3, 1, 1), .input = x}},
             {"channel_slice", &kChannelSlice, ChannelSliceAttributes{.begin = 5, .count = 12}},
             {"channel_pad", &kChannelPad, ChannelPadAttributes{.before = 3, .after = 5}},
             {"channel_shuffle", &kChannelShuffle, ChannelShuffleAttributes{.groups = 3}},
             {"spatial_pad", &kSpatialPad, SpatialPadAttributes{.before = {1, 2}, .after = {2, 0}}},
             {"flatten", &kFlatten, {}}}) {
      KernelCase& made = cases.emplace_back();
      made.name = fmt::format("{}_{}", mover.name, name_of(dtype));
      made.op = mover.op;
      made.attributes = mover.attributes;
      made.smooth = false;
      add_input(made, dtype, x, quanta_of(dtype));
      made.exact = mover.op != &kAvgPool;
      made.quanta = made.exact ? 0 : kOneQuantum;
    }
    KernelCase& joined = cases.emplace_back();
    joined.name = fmt::format("concat_{}", name_of(dtype));
    joined.op = &kConcat;
    joined.smooth = false;
    joined.exact = true;
    for (const std::int64_t channels : {16, 5, 24}) {
      add_input(joined, dtype, {2, channels, 5, 7}, quanta_of(dtype));
    }
  }
}

}  // namespace

/// Ops on u8 and s8, and the ops that take quanta as they are.
std::vector<KernelCase> quantize_cases() {
  std::vector<KernelCase> cases;
  add_layers(cases);
  add_conversions(cases);
  add_movers(cases);
  return cases;
}

}  // namespace bench
