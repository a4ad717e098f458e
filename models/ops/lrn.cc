#include "models/ops/lrn.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 4);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return context.graph.add_node(kLrnBackward, context.node.name + "/backward",
                                context.node.attributes,
                                {context.output_gradients[0], context.node.inputs[0]});
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 4);
  require_same_shape(context, 0, 1);
  return {context.inputs[0]};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const LrnAttributes& attributes) {
  return out << "radius " << attributes.radius << " bias " << attributes.bias << " alpha "
             << attributes.alpha << " beta " << attributes.beta;
}

const OpDef kLrn{.name = "lrn", .infer = infer, .gradient = gradient, .keeps_sign = true};
const OpDef kLrnBackward{.name = "lrn_backward", .infer = infer_backward};

}  // namespace bench
