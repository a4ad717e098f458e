#include <algorithm>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/channel_scale.h"
#include "kernels/cpu/channel_shuffle.h"
#include "kernels/cpu/drop_path.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/join_rows.h"
#include "kernels/cpu/spatial_pad.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/drop_path.h"
#include "models/ops/spatial_pad.h"

namespace bench::onednn {
namespace {

/// The layouts in which each of these consecutive runs of channels is contiguous in memory. A
/// blocked layout qualifies only if every run consists of whole blocks.
std::vector<Layout> layouts_of_runs(const Context& context, const Shape& shape,
                                    const std::vector<std::int64_t>& channels, DataFormat format) {
  const bool whole_blocks = std::all_of(channels.begin(), channels.end(), [&](std::int64_t count) {
    return count % context.block == 0;
  });
  return whole_blocks ? activation_layouts(context, shape, format) : plain_layouts(shape, format);
}

/// A tensor as rows, in each of which a run of channels is contiguous.
struct Rows {
  std::int64_t count = 0;
  /// Elements of a channel in a row.
  std::int64_t per_channel = 0;
};
Rows rows_of(const Shape& shape, const Layout& layout) {
  const std::int64_t area = shape[2] * shape[3];
  return layout == nhwc() ? Rows{.count = shape[0] * area, .per_channel = 1}
                          : Rows{.count = shape[0], .per_channel = area};
}

/// A part of the output's rows: the channels from `begin` on of an input, or zeros.
struct Run {
  static constexpr int kZeros = -1;
  int input = kZeros;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// Candidates for an output whose channels are these runs.
std::vector<Candidate> join(Context& context, const Graph& graph, const Node& node,
                            DataFormat format, const std::vector<Run>& runs) {
  const Shape& shape = graph.shape(node.outputs[0]);
  const DType dtype = graph.type(node.outputs[0]).dtype;
  std::vector<std::int64_t> boundaries;
  for (const Run& run : runs) {
    boundaries.insert(boundaries.end(), {run.begin, run.count});
  }
  for (const ValueId input : node.inputs) {
    boundaries.push_back(graph.shape(input)[1]);
  }
  return per_layout(layouts_of_runs(context, shape, boundaries, format), [&](const Layout& layout) {
    const Rows rows = rows_of(shape, layout);
    std::vector<RowPart> parts;
    for (const Run& run : runs) {
      const std::int64_t channels =
          run.input == Run::kZeros
              ? 0
              : graph.shape(node.inputs[static_cast<std::size_t>(run.input)])[1];
      parts.push_back({.x = nullptr,
                       .width = run.count * rows.per_channel,
                       .stride = channels * rows.per_channel});
    }
    return vector_candidate(
        context, graph, node, std::vector<Layout>(node.inputs.size(), layout), {layout},
        [rows, runs, parts, dtype](const Launch& launch) mutable {
          for (std::size_t i = 0; i < parts.size(); ++i) {
            if (runs[i].input != Run::kZeros) {
              parts[i].x =
                  cpu::element(launch.in(runs[i].input), dtype, runs[i].begin * rows.per_channel);
            }
          }
          cpu::join_rows(launch.team,
                         {.dtype = dtype, .rows = rows.count, .parts = parts, .y = launch.out(0)});
        });
  });
}

}  // namespace

std::vector<Candidate> concat(Context& context, const Graph& graph, const Node& node,
                              DataFormat format) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    runs.push_back({.input = static_cast<int>(i), .count = graph.shape(node.inputs[i])[1]});
  }
  return join(context, graph, node, format, runs);
}

std::vector<Candidate> channel_slice(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format) {
  const auto& slice = node.attributes.as<ChannelSliceAttributes>();
  return join(context, graph, node, format,
              {{.input = 0, .begin = slice.begin, .count = slice.count}});
}

std::vector<Candidate> channel_pad(Context& context, const Graph& graph, const Node& node,
                                   DataFormat format) {
  const auto& pad = node.attributes.as<ChannelPadAttributes>();
  return join(context, graph, node, format,
              {{.count = pad.before},
               {.input = 0, .count = graph.shape(node.inputs[0])[1]},
               {.count = pad.after}});
}

std::vector<Candidate> channel_shuffle(Context& context, const Graph& graph, const Node& node,
                                       DataFormat format) {
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  const std::int64_t groups = node.attributes.as<ChannelShuffleAttributes>().groups;
  return per_view(context, shape, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    return vector_candidate(
        context, graph, node, {layout}, {layout},
        [view, dtype, sources = cpu::shuffle_sources(view, groups)](const Launch& launch) {
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
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return per_view(context, shape, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    // In every layout the channels of a pixel are consecutive; a block's padding may follow.
    Candidate candidate = vector_candidate(
        context, graph, node, {layout, Layout::any()}, {layout},
        [view, dtype](const Launch& launch) {
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
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return per_view(context, shape, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, {layout, layout}, {layout}, [view, dtype](const Launch& launch) {
          cpu::channel_scale_backward(launch.team, {.view = view,
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
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  const auto pad = node.attributes.as<SpatialPadAttributes>();
  return per_layout(activation_layouts(context, shape, format), [&](const Layout& layout) {
    const cpu::SpatialPad padding{.view = channel_view(context, shape, layout),
                                  .height = shape[2],
                                  .width = shape[3],
                                  .pad = pad,
                                  .dtype = dtype};
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
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  const auto attributes = node.attributes.as<DropPathAttributes>();
  return per_layout(activation_layouts(context, shape, format), [&](const Layout& layout) {
    const std::int64_t elements = channel_view(context, shape, layout).elements() / shape[0];
    Candidate candidate = vector_candidate(
        context, graph, node, {layout, row_major(0)}, {layout},
        [attributes, dtype, examples = shape[0], elements](const Launch& launch) {
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
