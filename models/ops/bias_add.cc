#include "models/ops/bias_add.h"

#include "models/ops/epilogue.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  check_epilogue(context, {.bias = true}, 1, context.inputs[0].shape);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const ValueId dy = context.output_gradients[0];
  ValueId bias;
  if (context.wanted(1)) {
    bias = context.graph.add_node(kBiasBackward, context.node.name + "/backward", {}, {dy})[0];
  }
  return {dy, bias};
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 1);
  return {
      {.dtype = accumulation_type(context.inputs[0].dtype), .shape = {context.inputs[0].shape[1]}}};
}

}  // namespace

const OpDef kBiasAdd{.name = "bias_add", .infer = infer, .gradient = gradient};
const OpDef kBiasBackward{.name = "bias_backward", .infer = infer_backward};

}  // namespace bench
