#include "models/ops/loss.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

TensorType scalar_like(const TensorType& type) {
  return {.dtype = accumulation_type(type.dtype), .shape = {}};
}

void require_labels(const OpContext& context) {
  require_rank(context, 0, 2);
  require_rank(context, 1, 1);
  check(context.inputs[1].dtype == DType::s32, "labels must be s32");
  require_extent(context, {.subject = "the logits have",
                           .given = context.inputs[0].shape[0],
                           .unit = "rows",
                           .other = "the labels have",
                           .expected = context.inputs[1].shape[0],
                           .axis = "N"});
}

std::vector<TensorType> infer_cross_entropy(const OpContext& context) {
  require_inputs(context, 2);
  require_labels(context);
  return {scalar_like(context.inputs[0]), context.inputs[0]};
}

std::vector<ValueId> gradient_cross_entropy(GradientContext& context) {
  check(!context.output_gradients[1].valid(),
        "softmax_cross_entropy: its probabilities cannot receive a gradient");
  const Node node = context.node;
  const auto outputs =
      context.graph.add_node(kSoftmaxCrossEntropyBackward, node.name + "/backward", node.attributes,
                             {node.outputs[1], node.inputs[1], context.output_gradients[0]});
  return {outputs[0], {}};
}

std::vector<TensorType> infer_cross_entropy_backward(const OpContext& context) {
  require_inputs(context, 3);
  require_labels(context);
  require_rank(context, 2, 0);
  return {context.inputs[0]};
}

std::vector<TensorType> infer_l2(const OpContext& context) {
  check(!context.inputs.empty(), "l2_loss: needs at least one input");
  return {scalar_like(context.inputs[0])};
}

std::vector<ValueId> gradient_l2(GradientContext& context) {
  const Node node = context.node;
  const ValueId dloss = context.output_gradients[0];
  std::vector<ValueId> gradients(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (context.wanted(i)) {
      gradients[i] =
          context.graph.add_node(kL2LossBackward, fmt::format("{}/backward/{}", node.name, i),
                                 node.attributes, {node.inputs[i], dloss})[0];
    }
  }
  return gradients;
}

std::vector<TensorType> infer_l2_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 1, 0);
  return {context.inputs[0]};
}

std::vector<TensorType> infer_top_k(const OpContext& context) {
  require_inputs(context, 2);
  require_labels(context);
  return {scalar_like(context.inputs[0])};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const SoftmaxCrossEntropyAttributes& attributes) {
  return out << "label_smoothing " << attributes.label_smoothing << " weight " << attributes.weight;
}

std::ostream& operator<<(std::ostream& out, const L2LossAttributes& attributes) {
  return out << attributes.coefficient;
}

std::ostream& operator<<(std::ostream& out, const TopKAttributes& attributes) {
  return out << "k " << attributes.k;
}

const OpDef kSoftmaxCrossEntropy{.name = "softmax_cross_entropy",
                                 .infer = infer_cross_entropy,
                                 .gradient = gradient_cross_entropy,
                                 .computes_in_16_bits = false};
const OpDef kSoftmaxCrossEntropyBackward{.name = "softmax_cross_entropy_backward",
                                         .infer = infer_cross_entropy_backward};
const OpDef kL2Loss{
    .name = "l2_loss", .infer = infer_l2, .gradient = gradient_l2, .computes_in_16_bits = false};
const OpDef kL2LossBackward{.name = "l2_loss_backward", .infer = infer_l2_backward};
const OpDef kTopKAccuracy{
    .name = "top_k_accuracy", .infer = infer_top_k, .computes_in_16_bits = false};

}  // namespace bench
