#include <algorithm>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/channel_scale.h"
#include "kernels/cpu/channel_shuffle.h"
#include "kernels/cpu/drop_path.h"
#include "kernels/cpu/join_rows.h"
#include "kernels/cpu/spatial_pad.h"
#include "kernels/joined_channels.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/drop_path.h"
#include "models/ops/quantized.h"
#include "models/ops/spatial_pad.h"

namespace bench::onednn {
namespace {

/// The layouts in which the channels of every part are contiguous. A blocked layout qualifies only
/// if all parts and inputs consist of whole blocks.
std::vector<Layout> layouts_to_join(const Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const auto is_whole = [&](std::int64_t channels) { return channels % context.block == 0; };
  const auto runs = channel_runs(graph, node);
  const bool whole_blocks =
      std::ranges::all_of(
          runs,
          [&](const ChannelRun& run) { return is_whole(run.begin) && is_whole(run.count); }) &&
      std::ranges::all_of(node.inputs,
                          [&](ValueId input) { return is_whole(graph.shape(input)[1]); });
  const TensorType& type = graph.type(node.outputs[0]);
  return whole_blocks || is_quantized(type.dtype) ? activation_layouts(context, type, format)
                                                  : plain_layouts(type.shape, format);
}

}  // namespace

std::vector<Candidate> concat(Context& context, const Graph& graph, const Node& node,
                              DataFormat format) {
  return per_layout(layouts_to_join(context, graph, node, format), [&](const Layout& layout) {
    return vector_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
        [joined = JoinedChannels(graph, node, layout)](const Launch& launch) mutable {
          cpu::join_rows(launch.team, joined.bind(launch));
        });
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
  const TensorType& type = graph.type(node.inputs[0]);
  const std::int64_t groups = node.attributes.as<ChannelShuffleAttributes>().groups;
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    return vector_candidate(context, graph, node, {layout}, {layout},
                            [view, dtype = type.dtype,
                             sources = cpu::shuffle_sources(view, groups)](const Launch& launch) {
                              cpu::channel_shuffle(launch.team, {.view = view,
                                                                 .sources = sources,
                                                                 .dtype = dtype,
                                                                 .x = launch.in(0),
                                                                 .y = launch.out(0)});
                            });
  });
}

std::vector<Candidate> channel_scale(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    // In every layout the channels of a pixel are consecutive; a block's padding may follow.
    Candidate candidate = vector_candidate(
        context, graph, node, {layout, Layout::any()}, {layout},
        [view, dtype = type.dtype](const Launch& launch) {
          const auto scales = static_cast<std::int64_t>(launch.inputs[1].bytes / size_of(dtype));
          cpu::channel_scale(launch.team, {.view = view,
                                           .dtype = dtype,
                                           .x = launch.in(0),
                                           .s = launch.in(1),
                                           .s_stride = scales / view.batch,
                                           .y = launch.out(0)});
        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> channel_scale_backward(Context& context, const Graph& graph,
                                              const Node& node, DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(context, graph, node, {layout, layout}, {layout},
                                           [view, dtype = type.dtype](const Launch& launch) {
                                             cpu::channel_scale_backward(
                                                 launch.team, {.view = view,
                                                               .dtype = dtype,
                                                               .dy = launch.in(0),
                                                               .x = launch.in(1),
                                                               .ds = launch.out(0),
                                                               .workspace = launch.workspace});
                                           });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    return candidate;
  });
}

std::vector<Candidate> spatial_pad(Context& context, const Graph& graph, const Node& node,
                                   DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  const auto pad = node.attributes.as<SpatialPadAttributes>();
  return per_layout(activation_layouts(context, type, format), [&](const Layout& layout) {
    const cpu::SpatialPad padding{.view = channel_view(context, type.shape, layout),
                                  .height = type.shape[2],
                                  .width = type.shape[3],
                                  .pad = pad,
                                  .dtype = type.dtype};
    return vector_candidate(context, graph, node, {layout}, {layout},
                            [padding](const Launch& launch) {
                              cpu::SpatialPad args = padding;
                              args.x = launch.in(0);
                              args.y = launch.out(0);
                              cpu::spatial_pad(launch.team, args);
                            });
  });
}

std::vector<Candidate> drop_path(Context& context, const Graph& graph, const Node& node,
                                 DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  const auto attributes = node.attributes.as<DropPathAttributes>();
  return per_layout(activation_layouts(context, type, format), [&](const Layout& layout) {
    const std::int64_t elements =
        channel_view(context, type.shape, layout).elements() / type.shape[0];
    Candidate candidate = vector_candidate(
        context, graph, node, {layout, row_major(0)}, {layout},
        [attributes, dtype = type.dtype, examples = type.shape[0], elements](const Launch& launch) {
          const std::int32_t step = *launch.inputs[1].as<const std::int32_t>();
          cpu::drop_path(launch.team, {.dtype = dtype,
                                       .seed = attributes.seed,
                                       .stream = attributes.stream,
                                       .first_example = attributes.first_example,
                                       .step = step,
                                       .keep = step < 0 ? 1 : keep_probability(attributes, step),
                                       .examples = examples,
                                       .elements = elements,
                                       .x = launch.in(0),
                                       .y = launch.out(0)});
        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

}  // namespace bench::onednn
