#include "models/ops/pool.h"

#include <ostream>

namespace bench {
namespace {

TensorType pooled(const OpContext& context) {
  const auto& attributes = context.attributes.as<PoolAttributes>();
  require_inputs(context, 1);
  require_rank(context, 0, 4);
  const Shape& x = context.inputs[0].shape;
  const auto [height, width] = output_extents(context, attributes.window, x);
  return {.dtype = context.inputs[0].dtype, .shape = {x[0], x[1], height, width}};
}

std::vector<TensorType> infer_max(const OpContext& context) {
  return {pooled(context), {.dtype = DType::u8, .shape = {}, .opaque = true}};
}

std::vector<TensorType> infer_avg(const OpContext& context) { return {pooled(context)}; }

std::vector<ValueId> gradient_max(GradientContext& context) {
  return context.graph.add_node(kMaxPoolBackward, context.node.name + "/backward",
                                context.node.attributes,
                                {context.output_gradients[0], context.node.outputs[1]});
}

std::vector<ValueId> gradient_avg(GradientContext& context) {
  return context.graph.add_node(kAvgPoolBackward, context.node.name + "/backward",
                                context.node.attributes, {context.output_gradients[0]});
}

TensorType unpooled(const OpContext& context) {
  require_rank(context, 0, 4);
  return {.dtype = context.inputs[0].dtype, .shape = context.attributes.as<PoolAttributes>().input};
}

std::vector<TensorType> infer_max_backward(const OpContext& context) {
  require_inputs(context, 2);
  return {unpooled(context)};
}

std::vector<TensorType> infer_avg_backward(const OpContext& context) {
  require_inputs(context, 1);
  return {unpooled(context)};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const PoolAttributes& attributes) {
  return out << attributes.window << " of " << attributes.input;
}

const OpDef kMaxPool{
    .name = "max_pool", .infer = infer_max, .gradient = gradient_max, .quanta = Quanta::passed_on};
const OpDef kMaxPoolBackward{.name = "max_pool_backward", .infer = infer_max_backward};
const OpDef kAvgPool{
    .name = "avg_pool", .infer = infer_avg, .gradient = gradient_avg, .quanta = Quanta::passed_on};
const OpDef kAvgPoolBackward{.name = "avg_pool_backward", .infer = infer_avg_backward};

}  // namespace bench
