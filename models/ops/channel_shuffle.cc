#include "models/ops/channel_shuffle.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 1);
  require_rank(context, 0, 4);
  const auto& attributes = context.attributes.as<ChannelShuffleAttributes>();
  const std::int64_t channels = context.inputs[0].shape[1];
  if (channels % attributes.groups != 0) {
    throw UsageError(fmt::format("{}: {} channels are not divisible by {} groups (axis C of {})",
                                 context.op, channels, attributes.groups, context.node));
  }
  return {context.inputs[0]};
}

/// The transpose of groups x C/groups is undone by that of C/groups x groups.
std::vector<ValueId> gradient(GradientContext& context) {
  const auto& attributes = context.node.attributes.as<ChannelShuffleAttributes>();
  const std::int64_t channels = context.graph.shape(context.node.inputs[0])[1];
  return context.graph.add_node(kChannelShuffle, context.node.name + "/backward",
                                ChannelShuffleAttributes{.groups = channels / attributes.groups},
                                {context.output_gradients[0]});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ChannelShuffleAttributes& attributes) {
  return out << "groups " << attributes.groups;
}

const OpDef kChannelShuffle{
    .name = "channel_shuffle", .infer = infer, .gradient = gradient, .quanta = Quanta::passed_on};

}  // namespace bench
