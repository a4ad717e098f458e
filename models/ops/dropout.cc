#include "models/ops/dropout.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 1, 0);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const auto outputs = context.graph.add_node(
      kDropoutBackward, context.node.name + "/backward", context.node.attributes,
      {context.output_gradients[0], context.node.inputs[1]});
  return {outputs[0], {}};
}

}  // namespace

/// Omits first_element, so that the graphs of all towers have the same text (tuning_key()).
std::ostream& operator<<(std::ostream& out, const DropoutAttributes& attributes) {
  return out << "keep " << attributes.keep;
}

const OpDef kDropout{.name = "dropout", .infer = infer, .gradient = gradient, .keeps_sign = true};
const OpDef kDropoutBackward{.name = "dropout_backward", .infer = infer};

}  // namespace bench
