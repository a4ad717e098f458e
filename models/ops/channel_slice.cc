#include "models/ops/channel_slice.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

std::vector<TensorType> infer_slice(const OpContext& context) {
  require_inputs(context, 1);
  require_channels(context, 0);
  const auto& attributes = context.attributes.as<ChannelSliceAttributes>();
  const Shape& shape = context.inputs[0].shape;
  if (attributes.begin < 0 || attributes.count < 1 ||
      attributes.begin + attributes.count > shape[1]) {
    throw UsageError(fmt::format(
        "{}: cannot select {} channels from channel {} on; the input has {} (axis C of {})",
        context.op, attributes.count, attributes.begin, shape[1], context.node));
  }
  return {{.dtype = context.inputs[0].dtype, .shape = shape.with(1, attributes.count)}};
}

std::vector<ValueId> gradient_slice(GradientContext& context) {
  const auto& attributes = context.node.attributes.as<ChannelSliceAttributes>();
  const std::int64_t channels = context.graph.shape(context.node.inputs[0])[1];
  const ChannelPadAttributes pad{.before = attributes.begin,
                                 .after = channels - attributes.begin - attributes.count};
  return context.graph.add_node(kChannelPad, context.node.name + "/backward", pad,
                                {context.output_gradients[0]});
}

std::vector<TensorType> infer_pad(const OpContext& context) {
  require_inputs(context, 1);
  require_channels(context, 0);
  const auto& attributes = context.attributes.as<ChannelPadAttributes>();
  check(attributes.before >= 0 && attributes.after >= 0,
        "channel_pad: the padding cannot be negative");
  const Shape& x = context.inputs[0].shape;
  return {{.dtype = context.inputs[0].dtype,
           .shape = x.with(1, x[1] + attributes.before + attributes.after)}};
}

/// Reads only the channels that it copies.
std::int64_t bytes_slice(const Graph& graph, const Node& node) {
  return 2 * bytes_of(graph.type(node.outputs[0]));
}

std::vector<ValueId> gradient_pad(GradientContext& context) {
  const auto& attributes = context.node.attributes.as<ChannelPadAttributes>();
  const ChannelSliceAttributes slice{.begin = attributes.before,
                                     .count = context.graph.shape(context.node.inputs[0])[1]};
  return context.graph.add_node(kChannelSlice, context.node.name + "/backward", slice,
                                {context.output_gradients[0]});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ChannelSliceAttributes& attributes) {
  return out << "from " << attributes.begin << " count " << attributes.count;
}

std::ostream& operator<<(std::ostream& out, const ChannelPadAttributes& attributes) {
  return out << "before " << attributes.before << " after " << attributes.after;
}

const OpDef kChannelSlice{.name = "channel_slice",
                          .infer = infer_slice,
                          .gradient = gradient_slice,
                          .bytes = bytes_slice,
                          .quanta = Quanta::passed_on};
const OpDef kChannelPad{.name = "channel_pad",
                        .infer = infer_pad,
                        .gradient = gradient_pad,
                        .quanta = Quanta::passed_on};

}  // namespace bench
