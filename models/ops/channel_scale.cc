#include "models/ops/channel_scale.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 4);
  require_rank(context, 1, 4);
  const Shape& x = context.inputs[0].shape;
  const Shape& s = context.inputs[1].shape;
  const Shape expected{x[0], x[1], 1, 1};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    require_extent(context, {.subject = "the scale has extent",
                             .given = s[axis],
                             .unit = "",
                             .other = "it must have",
                             .expected = expected[axis],
                             .axis = std::string_view("NCHW").substr(axis, 1)});
  }
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  const ValueId dy = context.output_gradients[0];
  std::vector<ValueId> gradients(2);
  if (context.wanted(0)) {
    gradients[0] =
        context.graph.add_node(kChannelScale, node.name + "/backward", {}, {dy, node.inputs[1]})[0];
  }
  if (context.wanted(1)) {
    gradients[1] = context.graph.add_node(kChannelScaleBackward, node.name + "/backward_scale", {},
                                          {dy, node.inputs[0]})[0];
  }
  return gradients;
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 4);
  require_same_shape(context, 0, 1);
  const Shape& x = context.inputs[0].shape;
  return {{.dtype = context.inputs[0].dtype, .shape = {x[0], x[1], 1, 1}}};
}

}  // namespace

const OpDef kChannelScale{
    .name = "channel_scale", .infer = infer, .gradient = gradient, .keeps_sign = true};
const OpDef kChannelScaleBackward{.name = "channel_scale_backward", .infer = infer_backward};

}  // namespace bench
