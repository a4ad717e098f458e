#include "kernels/cpu/lrn.h"

#include "kernels/onednn/vector_kernel.h"
#include "models/ops/lrn.h"

namespace bench::onednn {
std::vector<Candidate> lrn(Context& context, const Graph& graph, const Node& node,
                           DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  // The kernels know no blocked channels.
  return per_layout(plain_layouts(type.shape, format), [&](const Layout& layout) {
    const cpu::ChannelView view = channel_view(context, type.shape, layout);
    Candidate candidate =
        vector_candidate(context, graph, node, {layout}, {layout},
                         [view, dtype = type.dtype, attributes](const Launch& launch) {
                           cpu::lrn(launch.team, {.view = view,
                                                  .attributes = attributes,
                                                  .dtype = dtype,
                                                  .x = launch.in(0),
                                                  .y = launch.out(0),
                                                  .workspace = launch.workspace});
                         });
    candidate.workspace_bytes = cpu::lrn_workspace_bytes(view, attributes, context.team.size());
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> lrn_backward(Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  // The kernels know no blocked channels.
  return per_layout(plain_layouts(type.shape, format), [&](const Layout& layout) {
    const cpu::ChannelView view = channel_view(context, type.shape, layout);
    Candidate candidate =
        vector_candidate(context, graph, node, {layout, layout}, {layout},
                         [view, dtype = type.dtype, attributes](const Launch& launch) {
                           cpu::lrn_backward(launch.team, {.view = view,
                                                           .attributes = attributes,
                                                           .dtype = dtype,
                                                           .dy = launch.in(0),
                                                           .x = launch.in(1),
                                                           .dx = launch.out(0),
                                                           .workspace = launch.workspace});
                         });
    candidate.workspace_bytes = cpu::lrn_workspace_bytes(view, attributes, context.team.size());
    candidate.may_overwrite = {{.output = 0, .input = 0}, {.output = 0, .input = 1}};
    return candidate;
  });
}

}  // namespace bench::onednn
