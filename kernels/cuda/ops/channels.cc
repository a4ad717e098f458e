#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/rows.h"
#include "kernels/cuda/gpu/spatial_pad.h"
#include "kernels/joined_channels.h"
#include "models/ops/channel_shuffle.h"

namespace bench::cuda {

std::vector<Candidate> concat(Context& context, const Graph& graph, const Node& node,
                              DataFormat format) {
  const Shape& shape = graph.shape(node.outputs[0]);
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
    JoinedChannels joined(graph, node, layout);
    Candidate candidate = gpu_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
        [joined](const Launch& launch) mutable { join_rows(launch.stream, joined.bind(launch)); });
    candidate.launches = join_rows_launches(joined.parts());
    return candidate;
  });
}

std::vector<Candidate> channel_slice(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format) {
  return concat(context, graph, node, format);
}

std::vector<Candidate> channel_pad(Context& context, const Graph& graph, const Node& node,
                                   DataFormat format) {
  return concat(context, graph, node, format);
}

std::vector<Candidate> channel_shuffle(Context& context, const Graph& graph, const Node& node,
                                       DataFormat format) {
  const Shape& shape = graph.shape(node.inputs[0]);
  const std::int64_t groups = node.attributes.as<ChannelShuffleAttributes>().groups;
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
    const ChannelRows rows = channel_rows(shape, layout);
    const ChannelShuffle problem{.dtype = graph.type(node.inputs[0]).dtype,
                                 .outer = rows.count,
                                 .groups = groups,
                                 .each = shape[1] / groups,
                                 .inner = rows.per_channel};
    return gpu_candidate(context, graph, node, {layout}, {layout}, [problem](const Launch& launch) {
      ChannelShuffle args = problem;
      args.x = launch.in(0);
      args.y = launch.out(0);
      channel_shuffle(launch.stream, args);
    });
  });
}

std::vector<Candidate> spatial_pad(Context& context, const Graph& graph, const Node& node,
                                   DataFormat format) {
  const Shape& shape = graph.shape(node.inputs[0]);
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
    const SpatialPad problem{.view = view_of(shape, layout),
                             .height = shape[2],
                             .width = shape[3],
                             .pad = node.attributes.as<SpatialPadAttributes>(),
                             .dtype = graph.type(node.inputs[0]).dtype};
    return gpu_candidate(context, graph, node, {layout}, {layout}, [problem](const Launch& launch) {
      SpatialPad args = problem;
      args.x = launch.in(0);
      args.y = launch.out(0);
      spatial_pad(launch.stream, args);
    });
  });
}

}  // namespace bench::cuda
