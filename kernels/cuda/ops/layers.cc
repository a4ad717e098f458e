#include "kernels/cuda/ops/layers.h"

#include <algorithm>

#include "kernels/cuda/ops/prologue.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"

namespace bench::cuda {
namespace {

double flops_per_second(const CardSpeeds& speeds, const LayerMethod& method) {
  if (!method.tensor_cores) {
    return speeds.flops_per_second_32;
  }
  return is_half(method.dtype) ? speeds.flops_per_second_16 : speeds.flops_per_second_tf32;
}

bool is_convolution(const Node& node) {
  return node.op == &kConv2d || node.op == &kConv2dBackwardData ||
         node.op == &kConv2dBackwardWeights;
}

std::string why_no_product(const Context& context, const Graph& graph, const Node& node) {
  const ActivationKind activation =
      node.op == &kFullyConnected
          ? node.attributes.as<FullyConnectedAttributes>().epilogue.activation
          : ActivationKind::none;
  if (activation != ActivationKind::none && activation != ActivationKind::relu) {
    return fmt::format("cuda's {} cannot fuse {}", node.op->name, name_of(activation));
  }
  const ProductProblem problem = product_of(graph, node);
  if (!context.products.choices(problem).empty()) {
    return "";
  }
  if (problem.bias) {
    return fmt::format("cuda has no matrix product in {} with a bias in f32",
                       name_of(problem.dtype));
  }
  return fmt::format("cuda has no matrix product in {}", name_of(problem.dtype));
}

std::string why_no_filter_prologue(const Context& context, const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  if (attributes.bias) {
    return "cuda's conv2d_backward_weights does not compute the bias gradient; use bias_backward";
  }
  const TensorType& x = graph.type(node.inputs[1]);
  return why_no_prologue(context, *attributes.prologue,
                         {.pass = ConvolutionProblem::Pass::filter,
                          .dtype = x.dtype,
                          .x = extents_of(x.shape),
                          .filter = extents_of(attributes.weights),
                          .y = extents_of(graph.shape(node.inputs[0])),
                          .window = attributes.window,
                          .groups = attributes.groups,
                          .prologue = true});
}

}  // namespace

std::string why_no_layer(const Context& context, const Graph& graph, const Node& node) {
  if (is_convolution(node) && graph.type(node.inputs[0]).dtype == DType::bf16 &&
      context.device.capability < kFirstWithBfloat16) {
    return fmt::format(
        "{} has convolutions in f32 and f16; bf16 needs compute capability 8.0 or newer",
        context.device.name);
  }
  if (node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().batch_norm) {
    return why_no_batch_norm(context, graph, node);
  }
  if (node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().prologue) {
    return "cuda's convolutions normalize their input only if they also compute statistics";
  }
  if (node.op == &kConv2dBackwardWeights &&
      node.attributes.as<Conv2dBackwardWeightsAttributes>().prologue) {
    return why_no_filter_prologue(context, graph, node);
  }
  const bool with_bias = (node.op == &kConv2dBackwardWeights &&
                          node.attributes.as<Conv2dBackwardWeightsAttributes>().bias) ||
                         (node.op == &kFullyConnectedBackwardWeights &&
                          node.attributes.as<FullyConnectedBackwardWeightsAttributes>().bias);
  if (with_bias) {
    return fmt::format("cuda's {} does not compute the bias gradient; use bias_backward",
                       node.op->name);
  }
  if (node.op == &kFullyConnected || node.op == &kFullyConnectedBackwardData ||
      node.op == &kFullyConnectedBackwardWeights) {
    return why_no_product(context, graph, node);
  }
  return "";
}

std::array<std::int64_t, 4> extents_of(const Shape& shape) {
  return {shape[0], shape[1], shape[2], shape[3]};
}

std::vector<ConvolutionChoice> convolution_choices(const Context& context,
                                                   const ConvolutionProblem& problem) {
  std::vector<ConvolutionChoice> choices = context.convolutions.choices(problem);
  std::ranges::stable_partition(choices, &ConvolutionChoice::deterministic);
  return choices;
}

double layer_seconds(const Context& context, const Work& work, const LayerMethod& method) {
  const CardSpeeds speeds = planning_speeds(context.device);
  const double arithmetic =
      2 * static_cast<double>(work.multiply_adds) / flops_per_second(speeds, method);
  const double memory = static_cast<double>(work.bytes) / speeds.bytes_per_second;
  const double scratch = 2 * static_cast<double>(method.workspace_bytes) / speeds.bytes_per_second;
  return kLaunchSeconds + std::max(arithmetic, memory) + scratch;
}

}  // namespace bench::cuda
