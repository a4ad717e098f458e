#include "kernels/joined_channels.h"

#include "models/base/errors.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"

namespace bench {

std::vector<ChannelRun> channel_runs(const Graph& graph, const Node& node) {
  if (node.op == &kChannelSlice) {
    const auto& slice = node.attributes.as<ChannelSliceAttributes>();
    return {{.input = 0, .begin = slice.begin, .count = slice.count}};
  }
  if (node.op == &kChannelPad) {
    const auto& pad = node.attributes.as<ChannelPadAttributes>();
    return {{.count = pad.before},
            {.input = 0, .count = graph.shape(node.inputs[0])[1]},
            {.count = pad.after}};
  }
  check(node.op == &kConcat, fmt::format("{} does not join channels", node.op->name));
  std::vector<ChannelRun> runs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    runs.push_back({.input = static_cast<int>(i), .count = graph.shape(node.inputs[i])[1]});
  }
  return runs;
}

ChannelRows channel_rows(const Shape& shape, const Layout& layout) {
  const std::int64_t area = shape.rank() == 2 ? 1 : shape[2] * shape[3];
  return layout == nhwc() ? ChannelRows{.count = shape[0] * area, .per_channel = 1}
                          : ChannelRows{.count = shape[0], .per_channel = area};
}

JoinedChannels::JoinedChannels(const Graph& graph, const Node& node, const Layout& layout)
    : dtype_(graph.type(node.outputs[0]).dtype) {
  const ChannelRows rows = channel_rows(graph.shape(node.outputs[0]), layout);
  rows_ = rows.count;
  for (const ChannelRun& run : channel_runs(graph, node)) {
    const std::int64_t channels =
        run.input == ChannelRun::kZeros
            ? 0
            : graph.shape(node.inputs[static_cast<std::size_t>(run.input)])[1];
    parts_.push_back(
        {.width = run.count * rows.per_channel, .stride = channels * rows.per_channel});
    sources_.push_back(
        {.input = run.input,
         .offset = run.begin * rows.per_channel * static_cast<std::int64_t>(size_of(dtype_))});
  }
}

JoinRows JoinedChannels::bind(const LaunchTensors& launch) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto* const input = static_cast<const std::byte*>(launch.in(sources_[i].input));
    parts_[i].x = input == nullptr ? nullptr : input + sources_[i].offset;
  }
  return {.dtype = dtype_, .rows = rows_, .parts = parts_, .y = launch.out(0)};
}

}  // namespace bench
