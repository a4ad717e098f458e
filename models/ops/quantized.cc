#include "models/ops/quantized.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

void require_quantized(const OpContext& context, std::size_t index) {
  const DType dtype = context.inputs[index].dtype;
  check(is_quantized(dtype), fmt::format("{}: input {} of {} is {}; it must be u8 or s8",
                                         context.op, index, context.node, name_of(dtype)));
}

/// Requires f32, or f64 for more precise tests.
void require_real(const OpContext& context, std::size_t index) {
  const DType dtype = context.inputs[index].dtype;
  check(dtype == DType::f32 || dtype == DType::f64,
        fmt::format("{}: input {} of {} is {}; it must be f32 or f64", context.op, index,
                    context.node, name_of(dtype)));
}

void require_scale(const OpContext& context, double scale) {
  check(scale > 0, fmt::format("{}: {} has scale {:g}; a scale must be positive", context.op,
                               context.node, scale));
}

std::vector<TensorType> infer_quantize(const OpContext& context) {
  const auto& attributes = context.attributes.as<QuantizeAttributes>();
  require_inputs(context, 1);
  require_scale(context, attributes.scale);
  check(is_quantized(attributes.dtype), "quantize: the result must be u8 or s8");
  return {{.dtype = attributes.dtype, .shape = context.inputs[0].shape}};
}

std::vector<TensorType> infer_dequantize(const OpContext& context) {
  require_inputs(context, 1);
  require_quantized(context, 0);
  require_scale(context, context.attributes.as<DequantizeAttributes>().scale);
  return {{.dtype = DType::f32, .shape = context.inputs[0].shape}};
}

std::vector<TensorType> infer_spatial_mean(const OpContext& context) {
  const TensorType same = infer_dequantize(context)[0];
  require_rank(context, 0, 4);
  return {{.dtype = same.dtype, .shape = {same.shape[0], same.shape[1]}}};
}

TensorType written(const OpContext& context, const QuantizedOutput& output, const Shape& shape) {
  require_scale(context, output.scale);
  check(is_quantized(output.dtype) || (output.dtype == DType::f32 && output.scale == 1),
        fmt::format("{}: {} must write u8, s8, or f32 with scale 1", context.op, context.node));
  return {.dtype = output.dtype, .shape = shape};
}

/// The output shape of the op on real numbers. Its inputs are the same without the weight scales.
Shape plain_shape(const OpContext& context, const OpDef& plain, const Attributes& attributes) {
  check(context.inputs.size() > 2,
        fmt::format("{}: {} has no weight scales", context.op, context.node));
  require_quantized(context, 0);
  check(context.inputs[1].dtype == DType::s8,
        fmt::format("{}: the weights of {} must be s8", context.op, context.node));
  require_real(context, 2);
  require_rank(context, 2, 1);
  require_extent(context, {.subject = "there are",
                           .given = context.inputs[2].shape[0],
                           .unit = "weight scales",
                           .other = "the number of weight channels is",
                           .expected = context.inputs[1].shape[0],
                           .axis = "O"});
  std::vector<TensorType> inputs(context.inputs.begin(), context.inputs.end());
  inputs.erase(inputs.begin() + 2);
  return plain
      .infer(
          {.op = context.op, .node = context.node, .attributes = attributes, .inputs = inputs})[0]
      .shape;
}

std::vector<TensorType> infer_conv2d(const OpContext& context) {
  const auto& attributes = context.attributes.as<QuantizedConv2dAttributes>();
  const Shape shape = plain_shape(context, kConv2d, attributes.conv);
  require_scale(context, attributes.input_scale);
  const Epilogue& epilogue = attributes.conv.epilogue;
  if (epilogue.bias) {
    require_real(context, 3);
  }
  if (epilogue.residual) {
    const std::size_t residual = context.inputs.size() - 1;
    is_quantized(attributes.output.dtype) ? require_quantized(context, residual)
                                          : require_real(context, residual);
    require_scale(context, attributes.residual_scale);
  }
  return {written(context, attributes.output, shape)};
}

std::vector<TensorType> infer_fully_connected(const OpContext& context) {
  const auto& attributes = context.attributes.as<QuantizedFullyConnectedAttributes>();
  const Shape shape = plain_shape(context, kFullyConnected, attributes.layer);
  require_scale(context, attributes.input_scale);
  if (attributes.layer.epilogue.bias) {
    require_real(context, 3);
  }
  return {written(context, attributes.output, shape)};
}

std::vector<TensorType> infer_add(const OpContext& context) {
  const auto& attributes = context.attributes.as<QuantizedAddAttributes>();
  require_inputs(context, 2);
  require_same_shape(context, 0, 1);
  require_quantized(context, 0);
  require_quantized(context, 1);
  require_scale(context, attributes.first_scale);
  require_scale(context, attributes.second_scale);
  return {written(context, attributes.output, context.inputs[0].shape)};
}

std::int64_t multiply_adds_conv2d(const Graph& graph, const Node& node) {
  return kConv2d.multiply_adds(graph, node);
}

std::int64_t padding_conv2d(const Graph& graph, const Node& node) {
  return multiply_adds_of_padding(node.attributes.as<QuantizedConv2dAttributes>().conv.window,
                                  graph.shape(node.inputs[0]), graph.shape(node.inputs[1]));
}

std::int64_t multiply_adds_fully_connected(const Graph& graph, const Node& node) {
  return kFullyConnected.multiply_adds(graph, node);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const QuantizeAttributes& attributes) {
  return out << name_of(attributes.dtype) << " scale " << attributes.scale;
}

std::ostream& operator<<(std::ostream& out, const DequantizeAttributes& attributes) {
  return out << "scale " << attributes.scale;
}

std::ostream& operator<<(std::ostream& out, const QuantizedOutput& output) {
  out << "to " << name_of(output.dtype);
  return is_quantized(output.dtype) ? out << " scale " << output.scale : out;
}

std::ostream& operator<<(std::ostream& out, const QuantizedConv2dAttributes& attributes) {
  out << attributes.conv << " scale " << attributes.input_scale;
  if (attributes.conv.epilogue.residual) {
    out << " residual " << attributes.residual_scale;
  }
  return out << " " << attributes.output;
}

std::ostream& operator<<(std::ostream& out, const QuantizedFullyConnectedAttributes& attributes) {
  return out << attributes.layer << " scale " << attributes.input_scale << " " << attributes.output;
}

std::ostream& operator<<(std::ostream& out, const QuantizedAddAttributes& attributes) {
  return out << "scales " << attributes.first_scale << ", " << attributes.second_scale << " "
             << attributes.output;
}

const OpDef kQuantize{.name = "quantize", .infer = infer_quantize, .quanta = Quanta::own};
const OpDef kDequantize{.name = "dequantize", .infer = infer_dequantize, .quanta = Quanta::own};
const OpDef kQuantizedSpatialMean{
    .name = "quantized_spatial_mean", .infer = infer_spatial_mean, .quanta = Quanta::own};
const OpDef kQuantizedConv2d{.name = "quantized_conv2d",
                             .infer = infer_conv2d,
                             .multiply_adds = multiply_adds_conv2d,
                             .multiply_adds_of_padding = padding_conv2d,
                             .quanta = Quanta::own};
const OpDef kQuantizedFullyConnected{.name = "quantized_fully_connected",
                                     .infer = infer_fully_connected,
                                     .multiply_adds = multiply_adds_fully_connected,
                                     .quanta = Quanta::own};
const OpDef kQuantizedAdd{.name = "quantized_add", .infer = infer_add, .quanta = Quanta::own};

}  // namespace bench
