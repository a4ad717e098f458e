#include "models/ops/concat.h"

#include "models/base/errors.h"
#include "models/ops/channel_slice.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  check(!context.inputs.empty(), "concat: needs at least one input");
  Shape y = context.inputs[0].shape;
  require_channels(context, 0);
  for (std::size_t i = 1; i < context.inputs.size(); ++i) {
    require_rank(context, i, y.rank());
    for (std::size_t axis = 0; axis < y.rank(); ++axis) {
      if (axis == 1) {
        continue;
      }
      require_extent(context, {.subject = fmt::format("input {} has extent", i),
                               .given = context.inputs[i].shape[axis],
                               .unit = "",
                               .other = "input 0 has",
                               .expected = y[axis],
                               .axis = axis == 0   ? "N"
                                       : axis == 2 ? "H"
                                                   : "W"});
    }
    y = y.with(1, y[1] + context.inputs[i].shape[1]);
  }
  return {{.dtype = context.inputs[0].dtype, .shape = y}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  std::vector<ValueId> gradients(node.inputs.size());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::int64_t count = context.graph.shape(node.inputs[i])[1];
    if (context.wanted(i)) {
      gradients[i] = context.graph.add_node(
          kChannelSlice, fmt::format("{}/backward/{}", node.name, i),
          ChannelSliceAttributes{.begin = begin, .count = count}, {context.output_gradients[0]})[0];
    }
    begin += count;
  }
  return gradients;
}

}  // namespace

const OpDef kConcat{
    .name = "concat", .infer = infer, .gradient = gradient, .quanta = Quanta::passed_on};

}  // namespace bench
