#include "models/ops/multiply.h"

namespace bench {
namespace {

std::vector<TensorType> infer_product(const OpContext& context) {
  require_inputs(context, 2);
  require_same_shape(context, 0, 1);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient_product(GradientContext& context) {
  const Node node = context.node;
  const ValueId dy = context.output_gradients[0];
  std::vector<ValueId> gradients(2);
  for (const std::size_t i : {0U, 1U}) {
    if (context.wanted(i)) {
      gradients[i] = context.graph.add_node(kMultiply, fmt::format("{}/backward/{}", node.name, i),
                                            {}, {dy, node.inputs[1 - i]})[0];
    }
  }
  return gradients;
}

}  // namespace

const OpDef kMultiply{.name = "multiply", .infer = infer_product, .gradient = gradient_product};

}  // namespace bench
