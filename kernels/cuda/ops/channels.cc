#include <vector>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/rows.h"
#include "kernels/cuda/gpu/spatial_pad.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"

namespace bench::cuda {
namespace {

/// A tensor as rows in which a run of channels is contiguous.
struct Rows {
  std::int64_t count = 0;
  /// The elements of a channel in a row.
  std::int64_t per_channel = 0;
};
Rows rows_of(const Shape& shape, const Layout& layout) {
  const View view = view_of(shape, layout);
  return view.order == Order::nhwc ? Rows{.count = view.batch * view.spatial, .per_channel = 1}
                                   : Rows{.count = view.batch, .per_channel = view.spatial};
}

/// A part of the output's rows: an input's channels from `begin` on, or zeros.
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
  const auto element_bytes = static_cast<std::int64_t>(size_of(dtype));
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
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
    Candidate candidate = gpu_candidate(
        context, graph, node, std::vector<Layout>(node.inputs.size(), layout), {layout},
        [rows, runs, parts, dtype, element_bytes](const Launch& launch) mutable {
          for (std::size_t i = 0; i < parts.size(); ++i) {
            if (runs[i].input != Run::kZeros) {
              parts[i].x = static_cast<const std::byte*>(launch.in(runs[i].input)) +
                           runs[i].begin * rows.per_channel * element_bytes;
            }
          }
          join_rows(launch.stream,
                    {.dtype = dtype, .rows = rows.count, .parts = parts, .y = launch.out(0)});
        });
    candidate.launches = join_rows_launches(parts);
    return candidate;
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
  const std::int64_t groups = node.attributes.as<ChannelShuffleAttributes>().groups;
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
    const Rows rows = rows_of(shape, layout);
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
    const SpatialPad problem{.dtype = graph.type(node.inputs[0]).dtype,
                             .view = view_of(shape, layout),
                             .height = shape[2],
                             .width = shape[3],
                             .pad = node.attributes.as<SpatialPadAttributes>()};
    return gpu_candidate(context, graph, node, {layout}, {layout}, [problem](const Launch& launch) {
      SpatialPad args = problem;
      args.x = launch.in(0);
      args.y = launch.out(0);
      spatial_pad(launch.stream, args);
    });
  });
}

}  // namespace bench::cuda
