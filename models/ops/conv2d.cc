#include "models/ops/conv2d.h"

#include <ostream>

#include "models/base/errors.h"
#include "models/ops/bias_add.h"

namespace bench {
namespace {

/// Throws unless x and the last inputs fit the prologue.
void check_prologue(const OpContext& context, const std::optional<BatchNormAttributes>& prologue,
                    std::size_t x) {
  if (!prologue) {
    return;
  }
  const Attributes attributes = *prologue;
  std::vector<TensorType> inputs{context.inputs[x]};
  const auto count = static_cast<std::ptrdiff_t>(prologue_count(prologue));
  inputs.insert(inputs.end(), context.inputs.end() - count, context.inputs.end());
  kBatchNormInference.infer(
      {.op = context.op, .node = context.node, .attributes = attributes, .inputs = inputs});
}

/// The node without its prologue, reading the prologue's result in place of the input at `x`.
template <class T>
std::vector<ValueId> decompose_prologue(Graph& graph, const Node& node, std::size_t x) {
  auto attributes = node.attributes.as<T>();
  const auto count = static_cast<std::ptrdiff_t>(prologue_count(attributes.prologue));
  std::vector<ValueId> inputs = node.inputs;
  std::vector<ValueId> read{inputs[x]};
  read.insert(read.end(), inputs.end() - count, inputs.end());
  inputs.resize(inputs.size() - static_cast<std::size_t>(count));
  inputs[x] = graph.add_node(kBatchNormInference, node.name + "/prologue", *attributes.prologue,
                             std::move(read))[0];
  attributes.prologue.reset();
  return graph.add_node(*node.op, node.name, attributes, std::move(inputs));
}

/// The outputs of a batch norm that follows a result of type `y`, and then the result.
std::vector<TensorType> with_batch_norm(const OpContext& context, const TensorType& y) {
  const auto& convolution = context.attributes.as<Conv2dAttributes>();
  check(convolution.epilogue.empty(),
        "conv2d: a convolution with a batch norm cannot have another epilogue");
  const Attributes attributes = *convolution.batch_norm;
  std::vector<TensorType> inputs{y};
  inputs.insert(
      inputs.end(), context.inputs.begin() + 2,
      context.inputs.end() - static_cast<std::ptrdiff_t>(prologue_count(convolution.prologue)));
  std::vector<TensorType> outputs = kBatchNorm.infer(
      {.op = context.op, .node = context.node, .attributes = attributes, .inputs = inputs});
  if (!convolution.statistics_only) {
    outputs.push_back(y);
  }
  return outputs;
}

std::vector<TensorType> infer(const OpContext& context) {
  const auto& attributes = context.attributes.as<Conv2dAttributes>();
  const std::size_t behind =
      attributes.batch_norm
          ? static_cast<std::size_t>(batch_norm_inputs(*attributes.batch_norm).count) - 1
          : attributes.epilogue.inputs();
  check(attributes.batch_norm || !attributes.statistics_only,
        "conv2d: statistics_only requires a batch norm");
  require_inputs(context, 2 + behind + prologue_count(attributes.prologue));
  require_rank(context, 0, 4);
  require_rank(context, 1, 4);
  check_prologue(context, attributes.prologue, 0);
  const Shape& x = context.inputs[0].shape;
  const Shape& w = context.inputs[1].shape;
  require_extent(context, {.subject = "the input has",
                           .given = x[1],
                           .unit = "channels",
                           .other = "the weights expect",
                           .expected = w[1] * attributes.groups,
                           .axis = "C"});
  if (w[0] % attributes.groups != 0) {
    throw UsageError(
        fmt::format("{}: {} output channels are not divisible by {} groups (axis O of {})",
                    context.op, w[0], attributes.groups, context.node));
  }
  for (const std::size_t axis : {0U, 1U}) {
    require_extent(context, {.subject = "the weights have extent",
                             .given = w[2 + axis],
                             .unit = "",
                             .other = "the window has",
                             .expected = attributes.window.kernel[axis],
                             .axis = axis == 0 ? "H" : "W"});
  }
  const auto [height, width] = output_extents(context, attributes.window, x);
  const TensorType y{.dtype = context.inputs[0].dtype, .shape = {x[0], w[0], height, width}};
  if (attributes.batch_norm) {
    return with_batch_norm(context, y);
  }
  check_epilogue(context, attributes.epilogue, 2, y.shape);
  return {y};
}

/// A convolution with a batch norm and no prologue, split in two. The convolution has no outputs
/// yet; the batch norm lacks its first input.
struct Parts {
  Node convolution;
  Node norm;
};

Parts parts_of(const Node& node) {
  auto attributes = node.attributes.as<Conv2dAttributes>();
  Parts parts{.convolution = node, .norm = node};
  parts.norm.op = &kBatchNorm;
  parts.norm.name += "/batch_norm";
  parts.norm.attributes = attributes.batch_norm.value();
  parts.norm.inputs = {ValueId()};
  parts.norm.inputs.insert(parts.norm.inputs.end(), node.inputs.begin() + 2, node.inputs.end());
  attributes.batch_norm.reset();
  attributes.statistics_only = false;
  parts.convolution.attributes = attributes;
  parts.convolution.inputs.resize(2);
  return parts;
}

std::vector<ValueId> gradient(GradientContext& context);

/// Applies the batch norm's gradient rule, then the convolution's.
std::vector<ValueId> gradient_with_batch_norm(GradientContext& context) {
  const Node node = context.node;
  check(!context.output_gradients[kNormalised].valid(),
        "conv2d: the input of its batch norm cannot receive a gradient");
  Parts parts = parts_of(node);
  parts.norm.inputs[0] = node.outputs[kNormalised];
  parts.norm.outputs.resize(kNormalised);
  GradientContext of_norm{
      .graph = context.graph,
      .node = parts.norm,
      .output_gradients = context.output_gradients.first(kNormalised),
      .wanted = [&](std::size_t input) { return input == 0 || context.wanted(input + 1); }};
  const std::vector<ValueId> from_norm = kBatchNorm.gradient(of_norm);
  parts.convolution.outputs = {node.outputs[kNormalised]};
  GradientContext of_convolution{.graph = context.graph,
                                 .node = parts.convolution,
                                 .output_gradients = std::span(from_norm).first(1),
                                 .wanted = context.wanted};
  std::vector<ValueId> gradients = gradient(of_convolution);
  gradients.insert(gradients.end(), from_norm.begin() + 1, from_norm.end());
  return gradients;
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  check(!attributes.prologue && !attributes.statistics_only,
        "conv2d: prologues can only be added after the backward pass");
  if (attributes.batch_norm) {
    return gradient_with_batch_norm(context);
  }
  const Epilogue& epilogue = attributes.epilogue;
  Graph& graph = context.graph;
  ValueId dy = context.output_gradients[0];
  if (epilogue.activation != ActivationKind::none) {
    dy = graph.add_node(kActivationBackward, node.name + "/activation/backward",
                        ActivationAttributes{epilogue.activation}, {dy, node.outputs[0]})[0];
  }
  std::vector<ValueId> gradients(node.inputs.size());
  const bool bias_wanted = epilogue.bias && context.wanted(2);
  if (context.wanted(1)) {
    const Conv2dBackwardWeightsAttributes backward{.window = attributes.window,
                                                   .groups = attributes.groups,
                                                   .weights = graph.shape(node.inputs[1]),
                                                   .bias = bias_wanted};
    const auto outputs = graph.add_node(kConv2dBackwardWeights, node.name + "/backward_weights",
                                        backward, {dy, node.inputs[0]});
    gradients[1] = outputs[0];
    if (bias_wanted) {
      gradients[2] = outputs[1];
    }
  } else if (bias_wanted) {
    gradients[2] = graph.add_node(kBiasBackward, node.name + "/backward_bias", {}, {dy})[0];
  }
  if (context.wanted(0)) {
    const Conv2dBackwardDataAttributes backward{.window = attributes.window,
                                                .groups = attributes.groups,
                                                .input = graph.shape(node.inputs[0])};
    gradients[0] = graph.add_node(kConv2dBackwardData, node.name + "/backward_data", backward,
                                  {dy, node.inputs[1]})[0];
  }
  if (epilogue.residual) {
    gradients.back() = dy;
  }
  return gradients;
}

std::int64_t multiply_adds(const Shape& weights, const Shape& y) {
  return weights[1] * weights[2] * weights[3] * y.elements();
}

std::int64_t multiply_adds_forward(const Graph& graph, const Node& node) {
  return multiply_adds(graph.shape(node.inputs[1]), graph.shape(node.outputs[0]));
}

std::int64_t padding_forward(const Graph& graph, const Node& node) {
  return multiply_adds_of_padding(node.attributes.as<Conv2dAttributes>().window,
                                  graph.shape(node.inputs[0]), graph.shape(node.inputs[1]));
}

bool fused(const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  return !attributes.epilogue.empty() || attributes.batch_norm.has_value() ||
         attributes.prologue.has_value();
}

std::vector<ValueId> decompose_batch_norm(Graph& graph, const Node& node) {
  Parts parts = parts_of(node);
  const ValueId y =
      graph.add_node(kConv2d, node.name, parts.convolution.attributes, parts.convolution.inputs)[0];
  parts.norm.inputs[0] = y;
  std::vector<ValueId> outputs = graph.add_node(kBatchNorm, parts.norm.name, parts.norm.attributes,
                                                std::move(parts.norm.inputs));
  if (node.attributes.as<Conv2dAttributes>().statistics_only) {
    outputs[0] = y;
  } else {
    outputs.push_back(y);
  }
  return outputs;
}

std::vector<ValueId> decompose(Graph& graph, const Node& node) {
  if (node.attributes.as<Conv2dAttributes>().prologue) {
    return decompose_prologue<Conv2dAttributes>(graph, node, 0);
  }
  if (node.attributes.as<Conv2dAttributes>().batch_norm) {
    return decompose_batch_norm(graph, node);
  }
  auto attributes = node.attributes.as<Conv2dAttributes>();
  const Epilogue epilogue = attributes.epilogue;
  attributes.epilogue = {};
  const ValueId y =
      graph.add_node(kConv2d, node.name, attributes, {node.inputs[0], node.inputs[1]})[0];
  return {decompose_epilogue(graph, epilogue, node.name, y, std::span(node.inputs).subspan(2))};
}

std::vector<TensorType> infer_backward_data(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 4);
  const auto& attributes = context.attributes.as<Conv2dBackwardDataAttributes>();
  require_extent(context, {.subject = "the gradient has",
                           .given = context.inputs[0].shape[1],
                           .unit = "channels",
                           .other = "the weights have",
                           .expected = context.inputs[1].shape[0],
                           .axis = "O"});
  return {{.dtype = context.inputs[0].dtype, .shape = attributes.input}};
}

std::int64_t multiply_adds_backward_data(const Graph& graph, const Node& node) {
  return multiply_adds(graph.shape(node.inputs[1]), graph.shape(node.inputs[0]));
}

std::int64_t padding_backward_data(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  return multiply_adds_of_padding(attributes.window, attributes.input, graph.shape(node.inputs[1]));
}

std::vector<TensorType> infer_backward_weights(const OpContext& context) {
  const auto& attributes = context.attributes.as<Conv2dBackwardWeightsAttributes>();
  require_inputs(context, 2 + prologue_count(attributes.prologue));
  require_rank(context, 0, 4);
  check_prologue(context, attributes.prologue, 1);
  require_extent(context, {.subject = "the gradient has",
                           .given = context.inputs[0].shape[1],
                           .unit = "channels",
                           .other = "the weights have",
                           .expected = attributes.weights[0],
                           .axis = "O"});
  const DType dtype = accumulation_type(context.inputs[0].dtype);
  std::vector<TensorType> outputs{{.dtype = dtype, .shape = attributes.weights}};
  if (attributes.bias) {
    outputs.push_back({.dtype = dtype, .shape = {attributes.weights[0]}});
  }
  return outputs;
}

std::int64_t multiply_adds_backward_weights(const Graph& graph, const Node& node) {
  return multiply_adds(graph.shape(node.outputs[0]), graph.shape(node.inputs[0]));
}

std::int64_t padding_backward_weights(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  return multiply_adds_of_padding(attributes.window, graph.shape(node.inputs[1]),
                                  attributes.weights);
}

bool backward_weights_fused(const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  return attributes.bias || attributes.prologue.has_value();
}

std::vector<ValueId> decompose_backward_weights(Graph& graph, const Node& node) {
  auto attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  if (attributes.prologue) {
    return decompose_prologue<Conv2dBackwardWeightsAttributes>(graph, node, 1);
  }
  attributes.bias = false;
  const ValueId weights =
      graph.add_node(kConv2dBackwardWeights, node.name, attributes, node.inputs)[0];
  const ValueId bias = graph.add_node(kBiasBackward, node.name + "/bias", {}, {node.inputs[0]})[0];
  return {weights, bias};
}

}  // namespace

bool has_prologue(const Node& node) {
  return (node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().prologue) ||
         (node.op == &kConv2dBackwardWeights &&
          node.attributes.as<Conv2dBackwardWeightsAttributes>().prologue);
}

std::size_t prologue_count(const std::optional<BatchNormAttributes>& prologue) {
  return prologue ? static_cast<std::size_t>(batch_norm_inference_inputs(*prologue).count) - 1 : 0;
}

BatchNormInputs prologue_inputs(const BatchNormAttributes& prologue, std::size_t inputs) {
  BatchNormInputs positions = batch_norm_inference_inputs(prologue);
  const int moved = static_cast<int>(inputs) - positions.count;
  for (int* const position : {&positions.gamma, &positions.beta, &positions.mean,
                              &positions.variance, &positions.residual}) {
    *position += *position < 0 ? 0 : moved;
  }
  positions.count = static_cast<int>(inputs);
  return positions;
}

std::int64_t Window::output_extent(std::size_t axis, std::int64_t input) const {
  const std::int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
  const std::int64_t room = input + pad_before[axis] + pad_after[axis] - reach;
  return room < 0 ? 0 : room / stride[axis] + 1;
}

std::int64_t Window::inner_taps(std::size_t axis, std::int64_t input) const {
  std::int64_t taps = 0;
  for (std::int64_t y = 0; y < output_extent(axis, input); ++y) {
    for (std::int64_t k = 0; k < kernel[axis]; ++k) {
      const std::int64_t x = y * stride[axis] + k * dilation[axis] - pad_before[axis];
      taps += x >= 0 && x < input ? 1 : 0;
    }
  }
  return taps;
}

std::int64_t multiply_adds_of_padding(const Window& window, const Shape& x, const Shape& w) {
  const std::int64_t all = window.output_extent(0, x[2]) * window.kernel[0] *
                           window.output_extent(1, x[3]) * window.kernel[1];
  const std::int64_t inner = window.inner_taps(0, x[2]) * window.inner_taps(1, x[3]);
  return x[0] * w[0] * w[1] * (all - inner);
}

std::array<std::int64_t, 2> output_extents(const OpContext& context, const Window& window,
                                           const Shape& input) {
  const std::array<std::int64_t, 2> extents{window.output_extent(0, input[2]),
                                            window.output_extent(1, input[3])};
  for (const std::size_t axis : {0U, 1U}) {
    if (extents[axis] < 1) {
      throw UsageError(
          fmt::format("{}: the input has extent {}, but the window needs {} (axis {} of {})",
                      context.op, input[2 + axis],
                      window.dilation[axis] * (window.kernel[axis] - 1) + 1 -
                          window.pad_before[axis] - window.pad_after[axis],
                      axis == 0 ? "H" : "W", context.node));
    }
  }
  return extents;
}

std::ostream& operator<<(std::ostream& out, const Window& window) {
  out << window.kernel[0] << "x" << window.kernel[1] << "/" << window.stride[0];
  if (window.stride[0] != window.stride[1]) {
    out << "," << window.stride[1];
  }
  if (window.dilation != std::array<std::int64_t, 2>{1, 1}) {
    out << " dilation " << window.dilation[0] << "," << window.dilation[1];
  }
  if (window.pad_before != window.pad_after || window.pad_before[0] != 0 ||
      window.pad_before[1] != 0) {
    out << " pad " << window.pad_before[0] << "," << window.pad_before[1] << "+"
        << window.pad_after[0] << "," << window.pad_after[1];
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Conv2dAttributes& attributes) {
  out << attributes.window;
  if (attributes.groups != 1) {
    out << " groups " << attributes.groups;
  }
  out << attributes.epilogue;
  if (attributes.batch_norm) {
    out << (attributes.statistics_only ? " statistics for batch norm " : " batch norm ")
        << *attributes.batch_norm;
  }
  if (attributes.prologue) {
    out << " after batch norm " << *attributes.prologue;
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Conv2dBackwardDataAttributes& attributes) {
  return out << attributes.window << " groups " << attributes.groups << " to " << attributes.input;
}

std::ostream& operator<<(std::ostream& out, const Conv2dBackwardWeightsAttributes& attributes) {
  out << attributes.window << " groups " << attributes.groups << " to " << attributes.weights
      << (attributes.bias ? "+bias" : "");
  if (attributes.prologue) {
    out << " after batch norm " << *attributes.prologue;
  }
  return out;
}

constexpr EpilogueCarrier kCarrier = carrier_of<Conv2dAttributes>(true, true);

const OpDef kConv2d{.name = "conv2d",
                    .infer = infer,
                    .gradient = gradient,
                    .multiply_adds = multiply_adds_forward,
                    .multiply_adds_of_padding = padding_forward,
                    .fused = fused,
                    .decompose = decompose,
                    .epilogue = &kCarrier};
const OpDef kConv2dBackwardData{.name = "conv2d_backward_data",
                                .infer = infer_backward_data,
                                .multiply_adds = multiply_adds_backward_data,
                                .multiply_adds_of_padding = padding_backward_data};
const OpDef kConv2dBackwardWeights{.name = "conv2d_backward_weights",
                                   .infer = infer_backward_weights,
                                   .multiply_adds = multiply_adds_backward_weights,
                                   .multiply_adds_of_padding = padding_backward_weights,
                                   .fused = backward_weights_fused,
                                   .decompose = decompose_backward_weights};

}  // namespace bench
