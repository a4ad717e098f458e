#include "models/ops/reshape.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  const TensorType& x = context.inputs[0];
  const Shape& shape = context.attributes.as<ReshapeAttributes>().shape;
  require_extent(context, {.subject = "the input has",
                           .given = x.shape.elements(),
                           .unit = "elements",
                           .other = "the new shape has",
                           .expected = shape.elements(),
                           .axis = "N"});
  return {{.dtype = x.dtype, .shape = shape}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return context.graph.add_node(kReshape, context.node.name + "/backward",
                                ReshapeAttributes{context.graph.shape(context.node.inputs[0])},
                                {context.output_gradients[0]});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ReshapeAttributes& attributes) {
  return out << "to " << attributes.shape;
}

const OpDef kReshape{.name = "reshape", .infer = infer, .gradient = gradient, .keeps_sign = true};

}  // namespace bench
