#include "models/ops/fully_connected.h"

#include <ostream>

#include "models/base/errors.h"
#include "models/ops/bias_add.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  const auto& epilogue = context.attributes.as<FullyConnectedAttributes>().epilogue;
  check(!epilogue.residual, "fully_connected: its epilogue cannot have a residual");
  require_inputs(context, 2 + epilogue.inputs());
  require_rank(context, 0, 2);
  require_rank(context, 1, 2);
  require_extent(context, {.subject = "the input has",
                           .given = context.inputs[0].shape[1],
                           .unit = "channels",
                           .other = "the weights expect",
                           .expected = context.inputs[1].shape[1],
                           .axis = "C"});
  const Shape y{context.inputs[0].shape[0], context.inputs[1].shape[0]};
  check_epilogue(context, epilogue, 2, y);
  return {{.dtype = context.inputs[0].dtype, .shape = y}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  const auto& epilogue = node.attributes.as<FullyConnectedAttributes>().epilogue;
  Graph& graph = context.graph;
  ValueId dy = context.output_gradients[0];
  if (epilogue.activation != ActivationKind::none) {
    dy = graph.add_node(kActivationBackward, node.name + "/activation/backward",
                        ActivationAttributes{epilogue.activation}, {dy, node.outputs[0]})[0];
  }
  std::vector<ValueId> gradients(node.inputs.size());
  const bool bias_wanted = epilogue.bias && context.wanted(2);
  if (context.wanted(1)) {
    const auto outputs = graph.add_node(
        kFullyConnectedBackwardWeights, node.name + "/backward_weights",
        FullyConnectedBackwardWeightsAttributes{.bias = bias_wanted}, {dy, node.inputs[0]});
    gradients[1] = outputs[0];
    if (bias_wanted) {
      gradients[2] = outputs[1];
    }
  } else if (bias_wanted) {
    gradients[2] = graph.add_node(kBiasBackward, node.name + "/backward_bias", {}, {dy})[0];
  }
  if (context.wanted(0)) {
    gradients[0] = graph.add_node(kFullyConnectedBackwardData, node.name + "/backward_data", {},
                                  {dy, node.inputs[1]})[0];
  }
  return gradients;
}

std::int64_t multiply_adds_forward(const Graph& graph, const Node& node) {
  return graph.shape(node.inputs[1]).elements() * graph.shape(node.inputs[0])[0];
}

bool fused(const Node& node) {
  return !node.attributes.as<FullyConnectedAttributes>().epilogue.empty();
}

std::vector<ValueId> decompose(Graph& graph, const Node& node) {
  const Epilogue epilogue = node.attributes.as<FullyConnectedAttributes>().epilogue;
  const ValueId y = graph.add_node(kFullyConnected, node.name, FullyConnectedAttributes{},
                                   {node.inputs[0], node.inputs[1]})[0];
  return {decompose_epilogue(graph, epilogue, node.name, y, std::span(node.inputs).subspan(2))};
}

std::vector<TensorType> infer_backward_data(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 2);
  require_extent(context, {.subject = "the gradient has",
                           .given = context.inputs[0].shape[1],
                           .unit = "channels",
                           .other = "the weights have",
                           .expected = context.inputs[1].shape[0],
                           .axis = "O"});
  return {{.dtype = context.inputs[0].dtype,
           .shape = {context.inputs[0].shape[0], context.inputs[1].shape[1]}}};
}

std::vector<TensorType> infer_backward_weights(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 2);
  require_rank(context, 1, 2);
  require_extent(context, {.subject = "the gradient has",
                           .given = context.inputs[0].shape[0],
                           .unit = "rows",
                           .other = "the input has",
                           .expected = context.inputs[1].shape[0],
                           .axis = "N"});
  const DType dtype = accumulation_type(context.inputs[0].dtype);
  const std::int64_t out = context.inputs[0].shape[1];
  std::vector<TensorType> outputs{{.dtype = dtype, .shape = {out, context.inputs[1].shape[1]}}};
  if (context.attributes.as<FullyConnectedBackwardWeightsAttributes>().bias) {
    outputs.push_back({.dtype = dtype, .shape = {out}});
  }
  return outputs;
}

std::int64_t multiply_adds_backward_weights(const Graph& graph, const Node& node) {
  return graph.shape(node.outputs[0]).elements() * graph.shape(node.inputs[0])[0];
}

bool backward_weights_fused(const Node& node) {
  return node.attributes.as<FullyConnectedBackwardWeightsAttributes>().bias;
}

std::vector<ValueId> decompose_backward_weights(Graph& graph, const Node& node) {
  const ValueId weights = graph.add_node(kFullyConnectedBackwardWeights, node.name,
                                         FullyConnectedBackwardWeightsAttributes{}, node.inputs)[0];
  const ValueId bias = graph.add_node(kBiasBackward, node.name + "/bias", {}, {node.inputs[0]})[0];
  return {weights, bias};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const FullyConnectedAttributes& attributes) {
  return out << attributes.epilogue;
}

std::ostream& operator<<(std::ostream& out,
                         const FullyConnectedBackwardWeightsAttributes& attributes) {
  return out << (attributes.bias ? "+bias" : "");
}

constexpr EpilogueCarrier kCarrier = carrier_of<FullyConnectedAttributes>(true, false);

const OpDef kFullyConnected{.name = "fully_connected",
                            .infer = infer,
                            .gradient = gradient,
                            .multiply_adds = multiply_adds_forward,
                            .fused = fused,
                            .decompose = decompose,
                            .epilogue = &kCarrier};
const OpDef kFullyConnectedBackwardData{.name = "fully_connected_backward_data",
                                        .infer = infer_backward_data,
                                        .multiply_adds = multiply_adds_forward};
const OpDef kFullyConnectedBackwardWeights{.name = "fully_connected_backward_weights",
                                           .infer = infer_backward_weights,
                                           .multiply_adds = multiply_adds_backward_weights,
                                           .fused = backward_weights_fused,
                                           .decompose = decompose_backward_weights};

}  // namespace bench
