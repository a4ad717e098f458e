#include "kernels/cpu/lrn.h"

#include "kernels/onednn/vector_kernel.h"
#include "models/ops/lrn.h"

namespace bench::onednn {
namespace {

/// The kernels know no blocked channels.
std::vector<Layout> layouts_of(const Context& context, const Shape& shape, DataFormat format) {
  if (format == DataFormat::automatic) {
    return {LayoutTable::nhwc(), LayoutTable::nchw()};
  }
  return activation_layouts(context, shape, format);
}

}  // namespace

std::vector<Candidate> lrn(Context& context, const Graph& graph, const Node& node,
                           DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  std::vector<Candidate> candidates;
  for (const Layout& layout : layouts_of(context, shape, format)) {
    const cpu::ChannelView view = channel_view(context, shape, layout);
    Candidate& candidate = candidates.emplace_back(vector_candidate(
        context, graph, node, {layout}, {layout}, [view, dtype, attributes](const Launch& launch) {
          cpu::lrn(launch.team, {.view = view,
                                 .attributes = attributes,
                                 .dtype = dtype,
                                 .x = launch.in(0),
                                 .y = launch.out(0),
                                 .workspace = launch.workspace});
        }));
    candidate.workspace_bytes = cpu::lrn_workspace_bytes(view, attributes, context.team.size());
    candidate.may_overwrite = {{.output = 0, .input = 0}};
  }
  return candidates;
}

std::vector<Candidate> lrn_backward(Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const Shape& shape = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  std::vector<Candidate> candidates;
  for (const Layout& layout : layouts_of(context, shape, format)) {
    const cpu::ChannelView view = channel_view(context, shape, layout);
    Candidate& candidate = candidates.emplace_back(
        vector_candidate(context, graph, node, {layout, layout}, {layout},
                         [view, dtype, attributes](const Launch& launch) {
                           cpu::lrn_backward(launch.team, {.view = view,
                                                           .attributes = attributes,
                                                           .dtype = dtype,
                                                           .dy = launch.in(0),
                                                           .x = launch.in(1),
                                                           .dx = launch.out(0),
                                                           .workspace = launch.workspace});
                         }));
    candidate.workspace_bytes = cpu::lrn_workspace_bytes(view, attributes, context.team.size());
    candidate.may_overwrite = {{.output = 0, .input = 0}, {.output = 0, .input = 1}};
  }
  return candidates;
}

}  // namespace bench::onednn
