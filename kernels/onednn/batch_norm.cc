#include "kernels/cpu/batch_norm.h"

#include <algorithm>

#include "kernels/batch_norm_candidates.h"
#include "kernels/cpu/concat_batch_norm.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/concat_batch_norm.h"

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

std::vector<Candidate> concat_batch_norm(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  const auto& attributes = node.attributes.as<ConcatBatchNormAttributes>();
  const TensorType& y = graph.type(node.outputs[0]);
  std::vector<cpu::ChannelPart> parts(static_cast<std::size_t>(attributes.parts));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].channels = graph.shape(node.inputs[i])[1];
  }
  const bool whole_blocks = std::ranges::all_of(
      parts, [&](const cpu::ChannelPart& part) { return part.channels % context.block == 0; });
  const bool any_layout = whole_blocks || is_quantized(y.dtype);
  const std::vector<Layout> layouts =
      any_layout ? activation_layouts(context, y, format) : plain_layouts(y.shape, format);
  return per_layout(layouts, [&](const Layout& layout) {
    const BatchNormInputs at = concat_batch_norm_inputs(attributes);
    const cpu::ConcatBatchNorm common{
        .view = channel_view(context, y.shape, layout),
        .dtype = graph.type(node.inputs[0]).dtype,
        .activation = attributes.norm.epilogue.activation,
        .epsilon = attributes.norm.epsilon,
        .to = y.dtype,
        .quantum = attributes.quantize ? attributes.quantize->scale : 1};
    Candidate candidate =
        vector_candidate(context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
                         [common, at, parts](const Launch& launch) mutable {
                           for (std::size_t i = 0; i < parts.size(); ++i) {
                             parts[i].x = launch.inputs[i].data;
                           }
                           cpu::ConcatBatchNorm args = common;
                           args.parts = parts;
                           args.gamma = launch.floats_in(at.gamma);
                           args.beta = launch.floats_in(at.beta);
                           args.mean = launch.floats_in(at.mean);
                           args.variance = launch.floats_in(at.variance);
                           args.y = launch.out(0);
                           args.workspace = launch.workspace;
                           cpu::concat_batch_norm(launch.team, args);
                         });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(common.view, context.team.size());
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
