#include "models/ops/activation.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const bool from_output =
      derivative_from_output(context.node.attributes.as<ActivationAttributes>().kind);
  return context.graph.add_node(kActivationBackward, context.node.name + "/backward",
                                context.node.attributes,
                                {context.output_gradients[0],
                                 from_output ? context.node.outputs[0] : context.node.inputs[0]});
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_same_shape(context, 0, 1);
  return {context.inputs[0]};
}

}  // namespace

std::string_view name_of(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::none:
      return "none";
    case ActivationKind::relu:
      return "relu";
    case ActivationKind::relu6:
      return "relu6";
    case ActivationKind::sigmoid:
      return "sigmoid";
    case ActivationKind::tanh:
      return "tanh";
    case ActivationKind::hard_sigmoid:
      return "hard_sigmoid";
    case ActivationKind::silu:
      return "silu";
    case ActivationKind::hard_swish:
      return "hard_swish";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, ActivationKind kind) { return out << name_of(kind); }

std::ostream& operator<<(std::ostream& out, const ActivationAttributes& attributes) {
  return out << attributes.kind;
}

const OpDef kActivation{.name = "activation", .infer = infer, .gradient = gradient};
const OpDef kActivationBackward{.name = "activation_backward", .infer = infer_backward};

}  // namespace bench
