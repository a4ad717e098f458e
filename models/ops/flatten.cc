#include "models/ops/flatten.h"

#include "models/ops/spatial_mean.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 4);
  const Shape& x = context.inputs[0].shape;
  return {{.dtype = context.inputs[0].dtype, .shape = {x[0], x[1] * x[2] * x[3]}}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return context.graph.add_node(kUnflatten, context.node.name + "/backward",
                                RestoreShapeAttributes{context.graph.shape(context.node.inputs[0])},
                                {context.output_gradients[0]});
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 2);
  const Shape& input = context.attributes.as<RestoreShapeAttributes>().input;
  require_extent(context, {.subject = "the gradient has",
                           .given = context.inputs[0].shape[1],
                           .unit = "columns",
                           .other = "the shape needs",
                           .expected = input.elements() / input[0],
                           .axis = "C"});
  return {{.dtype = context.inputs[0].dtype, .shape = input}};
}

}  // namespace

const OpDef kFlatten{
    .name = "flatten", .infer = infer, .gradient = gradient, .quanta = Quanta::passed_on};
const OpDef kUnflatten{.name = "unflatten", .infer = infer_backward};

}  // namespace bench
