#include "models/ops/add.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  require_same_shape(context, 0, 1);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  return {context.output_gradients[0], context.output_gradients[0]};
}

}  // namespace

const OpDef kAdd{.name = "add", .infer = infer, .gradient = gradient, .keeps_sign = true};

}  // namespace bench
