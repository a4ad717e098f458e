#include "models/ops/batch_norm.h"

#include <ostream>

#include "models/base/errors.h"
#include "models/ops/add.h"

namespace bench {
namespace {

ValueId at(const Node& node, int position) {
  return node.inputs[static_cast<std::size_t>(position)];
}

void require_channel_vector(const OpContext& context, int position, std::int64_t channels) {
  if (position < 0) {
    return;
  }
  const auto index = static_cast<std::size_t>(position);
  require_rank(context, index, 1);
  require_extent(context, {.subject = "a parameter has",
                           .given = context.inputs[index].shape[0],
                           .unit = "channels",
                           .other = "the input has",
                           .expected = channels,
                           .axis = "C"});
}

const BatchNormAttributes& check_inputs(const OpContext& context,
                                        BatchNormInputs (*positions)(const BatchNormAttributes&),
                                        std::size_t x) {
  const auto& attributes = context.attributes.as<BatchNormAttributes>();
  check(!attributes.epilogue.bias, "batch_norm: its epilogue cannot have a bias");
  const BatchNormInputs inputs = positions(attributes);
  require_inputs(context, static_cast<std::size_t>(inputs.count));
  require_rank(context, x, 4);
  const std::int64_t channels = context.inputs[x].shape[1];
  for (const int position : {inputs.gamma, inputs.beta, inputs.mean, inputs.variance}) {
    require_channel_vector(context, position, channels);
  }
  if (inputs.residual >= 0) {
    check_epilogue(context, {.residual = true}, static_cast<std::size_t>(inputs.residual),
                   context.inputs[x].shape);
  }
  return attributes;
}

TensorType statistics_type(const OpContext& context, std::size_t x) {
  return {.dtype = accumulation_type(context.inputs[x].dtype),
          .shape = {context.inputs[x].shape[1]}};
}

void check_forward(const OpContext& context,
                   BatchNormInputs (*positions)(const BatchNormAttributes&)) {
  const BatchNormAttributes& attributes = check_inputs(context, positions, 0);
  check(!attributes.two_gradients && !attributes.mask_from_x,
        "batch_norm: only its backward op accepts two_gradients and mask_from_x");
}

std::vector<TensorType> infer(const OpContext& context) {
  check_forward(context, batch_norm_inputs);
  const TensorType statistics = statistics_type(context, 0);
  return {context.inputs[0], statistics, statistics};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  check(!context.output_gradients[1].valid() && !context.output_gradients[2].valid(),
        "batch_norm: its statistics outputs cannot receive a gradient");
  const BatchNormInputs forward = batch_norm_inputs(attributes);
  std::vector<ValueId> inputs{context.output_gradients[0], node.inputs[0]};
  if (attributes.scale) {
    inputs.push_back(at(node, forward.gamma));
  }
  inputs.push_back(node.outputs[1]);
  inputs.push_back(node.outputs[2]);
  if (attributes.epilogue.activation != ActivationKind::none) {
    inputs.push_back(node.outputs[0]);
  }
  const auto outputs = context.graph.add_node(kBatchNormBackward, node.name + "/backward",
                                              attributes, std::move(inputs));
  std::vector<ValueId> gradients(node.inputs.size());
  std::size_t next = 0;
  gradients[0] = outputs[next++];
  gradients[static_cast<std::size_t>(forward.beta)] = outputs[next++];
  if (attributes.scale) {
    gradients[static_cast<std::size_t>(forward.gamma)] = outputs[next++];
  }
  if (attributes.epilogue.residual) {
    gradients[static_cast<std::size_t>(forward.residual)] = outputs[next++];
  }
  return gradients;
}

bool fused(const Node& node) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  return !attributes.epilogue.empty() || attributes.two_gradients || attributes.mask_from_x;
}

/// The parts of the forward ops: the plain node, then the epilogue on its first output.
std::vector<ValueId> decompose_forward(Graph& graph, const Node& node, const OpDef& op,
                                       int residual) {
  auto attributes = node.attributes.as<BatchNormAttributes>();
  const Epilogue epilogue = attributes.epilogue;
  attributes.epilogue = {};
  std::vector<ValueId> inputs = node.inputs;
  std::vector<ValueId> epilogue_inputs;
  if (residual >= 0) {
    epilogue_inputs.push_back(inputs.back());
    inputs.pop_back();
  }
  auto outputs = graph.add_node(op, node.name, attributes, std::move(inputs));
  outputs[0] = decompose_epilogue(graph, epilogue, node.name, outputs[0], epilogue_inputs);
  return outputs;
}

std::vector<ValueId> decompose(Graph& graph, const Node& node) {
  const auto inputs = batch_norm_inputs(node.attributes.as<BatchNormAttributes>());
  return decompose_forward(graph, node, kBatchNorm, inputs.residual);
}

std::vector<TensorType> infer_inference(const OpContext& context) {
  check_forward(context, batch_norm_inference_inputs);
  return {context.inputs[0]};
}

std::vector<ValueId> decompose_inference(Graph& graph, const Node& node) {
  const auto inputs = batch_norm_inference_inputs(node.attributes.as<BatchNormAttributes>());
  return decompose_forward(graph, node, kBatchNormInference, inputs.residual);
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  const auto& attributes = check_inputs(context, batch_norm_backward_inputs, 1);
  check(!attributes.mask_from_x || (attributes.epilogue.activation != ActivationKind::none &&
                                    !attributes.epilogue.residual),
        "batch_norm_backward: mask_from_x requires an activation and no residual");
  require_same_shape(context, 0, 1);
  if (attributes.two_gradients) {
    const int second = batch_norm_backward_inputs(attributes).second_dy;
    require_same_shape(context, static_cast<std::size_t>(second), 1);
  }
  const TensorType vector = statistics_type(context, 1);
  std::vector<TensorType> outputs{context.inputs[1], vector};
  if (attributes.scale) {
    outputs.push_back(vector);
  }
  if (attributes.epilogue.residual) {
    outputs.push_back(context.inputs[1]);
  }
  return outputs;
}

/// The node with y, which is computed before.
std::vector<ValueId> decompose_mask(Graph& graph, const Node& node) {
  auto attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs positions = batch_norm_backward_inputs(attributes);
  std::vector<ValueId> forward{node.inputs[1]};
  for (const int position : {positions.gamma, positions.beta, positions.mean, positions.variance}) {
    if (position >= 0) {
      forward.push_back(at(node, position));
    }
  }
  const ValueId y = graph.add_node(
      kBatchNormInference, node.name + "/y",
      BatchNormAttributes{.epsilon = attributes.epsilon,
                          .scale = attributes.scale,
                          .epilogue = {.activation = attributes.epilogue.activation}},
      std::move(forward))[0];
  std::vector<ValueId> inputs = node.inputs;
  inputs.insert(inputs.begin() + positions.variance + 1, y);
  inputs.erase(inputs.begin() + positions.beta);
  attributes.mask_from_x = false;
  return graph.add_node(kBatchNormBackward, node.name, attributes, std::move(inputs));
}

std::vector<ValueId> decompose_backward(Graph& graph, const Node& node) {
  if (node.attributes.as<BatchNormAttributes>().mask_from_x) {
    return decompose_mask(graph, node);
  }
  auto attributes = node.attributes.as<BatchNormAttributes>();
  const Epilogue epilogue = attributes.epilogue;
  const BatchNormInputs positions = batch_norm_backward_inputs(attributes);
  std::vector<ValueId> inputs = node.inputs;
  if (attributes.two_gradients) {
    inputs[0] =
        graph.add_node(kAdd, node.name + "/gradient_sum", {}, {inputs[0], inputs.back()})[0];
    inputs.pop_back();
    attributes.two_gradients = false;
  }
  if (epilogue.activation != ActivationKind::none) {
    inputs[0] = graph.add_node(kActivationBackward, node.name + "/activation",
                               ActivationAttributes{epilogue.activation},
                               {inputs[0], at(node, positions.y)})[0];
    inputs.pop_back();
  }
  attributes.epilogue = {};
  const ValueId masked = inputs[0];
  auto outputs = graph.add_node(kBatchNormBackward, node.name, attributes, std::move(inputs));
  if (epilogue.residual) {
    outputs.push_back(masked);
  }
  return outputs;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BatchNormAttributes& attributes) {
  return out << "epsilon " << attributes.epsilon << (attributes.scale ? " scale" : "")
             << attributes.epilogue << (attributes.two_gradients ? " of two gradients" : "")
             << (attributes.mask_from_x ? " mask from x" : "");
}

BatchNormInputs batch_norm_inputs(const BatchNormAttributes& attributes) {
  BatchNormInputs inputs;
  int next = 1;
  inputs.gamma = attributes.scale ? next++ : -1;
  inputs.beta = next++;
  inputs.residual = attributes.epilogue.residual ? next++ : -1;
  inputs.count = next;
  return inputs;
}

BatchNormInputs batch_norm_inference_inputs(const BatchNormAttributes& attributes) {
  BatchNormInputs inputs;
  int next = 1;
  inputs.gamma = attributes.scale ? next++ : -1;
  inputs.beta = next++;
  inputs.mean = next++;
  inputs.variance = next++;
  inputs.residual = attributes.epilogue.residual ? next++ : -1;
  inputs.count = next;
  return inputs;
}

BatchNormInputs batch_norm_backward_inputs(const BatchNormAttributes& attributes) {
  BatchNormInputs inputs;
  int next = 2;
  inputs.gamma = attributes.scale ? next++ : -1;
  inputs.beta = attributes.mask_from_x ? next++ : -1;
  inputs.mean = next++;
  inputs.variance = next++;
  const bool y = attributes.epilogue.activation != ActivationKind::none && !attributes.mask_from_x;
  inputs.y = y ? next++ : -1;
  inputs.second_dy = attributes.two_gradients ? next++ : -1;
  inputs.count = next;
  return inputs;
}

constexpr EpilogueCarrier kCarrier = carrier_of<BatchNormAttributes>(false, true);

const OpDef kBatchNorm{.name = "batch_norm",
                       .infer = infer,
                       .gradient = gradient,
                       .fused = fused,
                       .decompose = decompose,
                       .epilogue = &kCarrier};
const OpDef kBatchNormInference{.name = "batch_norm_inference",
                                .infer = infer_inference,
                                .fused = fused,
                                .decompose = decompose_inference,
                                .epilogue = &kCarrier};
const OpDef kBatchNormBackward{.name = "batch_norm_backward",
                               .infer = infer_backward,
                               .fused = fused,
                               .decompose = decompose_backward};

}  // namespace bench
