#include "models/ops/activation.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return context.graph.add_node(kActivationBackward, context.node.name + "/backward",
                                context.node.attributes,
                                {context.output_gradients[0], context.node.outputs[0]});
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_same_shape(context, 0, 1);
  return {context.inputs[0]};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, ActivationKind kind) {
  switch (kind) {
    case ActivationKind::none:
      return out << "none";
    case ActivationKind::relu:
      return out << "relu";
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const ActivationAttributes& attributes) {
  return out << attributes.kind;
}

const OpDef kActivation{.name = "activation", .infer = infer, .gradient = gradient};
const OpDef kActivationBackward{.name = "activation_backward", .infer = infer_backward};

}  // namespace bench
