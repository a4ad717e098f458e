#include "models/ops/spatial_mean.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 4);
  const Shape& x = context.inputs[0].shape;
  return {{.dtype = context.inputs[0].dtype, .shape = {x[0], x[1]}}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return context.graph.add_node(kSpatialMeanBackward, context.node.name + "/backward",
                                RestoreShapeAttributes{context.graph.shape(context.node.inputs[0])},
                                {context.output_gradients[0]});
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 2);
  return {{.dtype = context.inputs[0].dtype,
           .shape = context.attributes.as<RestoreShapeAttributes>().input}};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RestoreShapeAttributes& attributes) {
  return out << "to " << attributes.input;
}

const OpDef kSpatialMean{
    .name = "spatial_mean", .infer = infer, .gradient = gradient, .keeps_sign = true};
const OpDef kSpatialMeanBackward{.name = "spatial_mean_backward", .infer = infer_backward};

}  // namespace bench
