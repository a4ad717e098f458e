#include "models/ops/swap_axes.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 3);
  const TensorType& x = context.inputs[0];
  const std::size_t first = context.attributes.as<SwapAxesAttributes>().first;
  check(first <= 1, "swap_axes: the first axis must be 0 or 1");
  return {{.dtype = x.dtype,
           .shape = x.shape.with(first, x.shape[first + 1]).with(first + 1, x.shape[first])}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  return context.graph.add_node(kSwapAxes, node.name + "/backward", node.attributes,
                                {context.output_gradients[0]});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const SwapAxesAttributes& attributes) {
  return out << "first=" << attributes.first;
}

const OpDef kSwapAxes{
    .name = "swap_axes", .infer = infer, .gradient = gradient, .keeps_sign = true};

}  // namespace bench
