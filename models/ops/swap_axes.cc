#include "models/ops/swap_axes.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 3);
  const TensorType& x = context.inputs[0];
  return {{.dtype = x.dtype, .shape = {x.shape[1], x.shape[0], x.shape[2]}}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return context.graph.add_node(kSwapAxes, context.node.name + "/backward", {},
                                {context.output_gradients[0]});
}

}  // namespace

const OpDef kSwapAxes{
    .name = "swap_axes", .infer = infer, .gradient = gradient, .keeps_sign = true};

}  // namespace bench
