#include "models/ops/cast.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  return {{.dtype = context.attributes.as<CastAttributes>().to, .shape = context.inputs[0].shape}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const ValueId dy = context.output_gradients[0];
  const DType wanted = context.graph.type(context.node.inputs[0]).dtype;
  if (context.graph.type(dy).dtype == wanted) {
    return {dy};
  }
  return context.graph.add_node(kCast, context.node.name + "/backward", CastAttributes{wanted},
                                {dy});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const CastAttributes& attributes) {
  return out << "to " << name_of(attributes.to);
}

const OpDef kCast{.name = "cast", .infer = infer, .gradient = gradient, .converts = true};

}  // namespace bench
