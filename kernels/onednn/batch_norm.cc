#include "kernels/cpu/batch_norm.h"

#include "kernels/batch_norm_candidates.h"
#include "kernels/onednn/vector_kernel.h"

namespace bench::onednn {
std::vector<Candidate> batch_norm(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate =
        vector_candidate(context, graph, node, layouts_of(graph, node.inputs, layout),
                         layouts_of(graph, node.outputs, layout),
                         [view, dtype = type.dtype, attributes](const Launch& launch) {
                           cpu::batch_norm_forward(
                               launch.team, batch_norm_arguments(view, dtype, attributes, launch));
                         });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    candidate.may_overwrite = overwrites_of_batch_norm(batch_norm_inputs(attributes));
    return candidate;
  });
}

std::vector<Candidate> batch_norm_inference(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
        [view, dtype = type.dtype, attributes](const Launch& launch) {
          cpu::batch_norm_inference(
              launch.team, batch_norm_inference_arguments(view, dtype, attributes, launch));
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> batch_norm_backward(Context& context, const Graph& graph, const Node& node,
                                           DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const TensorType& type = graph.type(node.inputs[1]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout),
        layouts_of(graph, node.outputs, layout),
        [view, dtype = type.dtype, attributes](const Launch& launch) {
          cpu::batch_norm_backward(launch.team,
                                   batch_norm_backward_arguments(view, dtype, attributes, launch));
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    candidate.may_overwrite = overwrites_of_batch_norm_backward(attributes);
    return candidate;
  });
}

}  // namespace bench::onednn
