#include "models/ops/spatial_pad.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 4);
  const auto& attributes = context.attributes.as<SpatialPadAttributes>();
  Shape shape = context.inputs[0].shape;
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t extent =
        shape[2 + axis] + attributes.before.at(axis) + attributes.after.at(axis);
    if (extent < 1) {
      throw UsageError(
          fmt::format("{}: padding of {}x{} before and {}x{} after leaves no elements of {} ({})",
                      context.op, attributes.before[0], attributes.before[1], attributes.after[0],
                      attributes.after[1], to_string(context.inputs[0].shape), context.node));
    }
    shape = shape.with(2 + axis, extent);
  }
  return {{.dtype = context.inputs[0].dtype, .shape = shape}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  auto attributes = context.node.attributes.as<SpatialPadAttributes>();
  for (const std::size_t axis : {0U, 1U}) {
    attributes.before.at(axis) = -attributes.before.at(axis);
    attributes.after.at(axis) = -attributes.after.at(axis);
  }
  return context.graph.add_node(kSpatialPad, context.node.name + "/backward", attributes,
                                {context.output_gradients[0]});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const SpatialPadAttributes& attributes) {
  return out << "before " << attributes.before[0] << "x" << attributes.before[1] << " after "
             << attributes.after[0] << "x" << attributes.after[1];
}

const OpDef kSpatialPad{
    .name = "spatial_pad", .infer = infer, .gradient = gradient, .quanta = Quanta::passed_on};

}  // namespace bench
