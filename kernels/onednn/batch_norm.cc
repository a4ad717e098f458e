#include "kernels/cpu/batch_norm.h"

#include "kernels/onednn/vector_kernel.h"
#include "models/ops/batch_norm.h"

namespace bench::onednn {
std::vector<Candidate> batch_norm(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout),
        layouts_of(graph, node.outputs, layout),
        [view, dtype = type.dtype, at, attributes](const Launch& launch) {
          cpu::batch_norm_forward(launch.team, {.view = view,
                                                .dtype = dtype,
                                                .x = launch.in(0),
                                                .gamma = launch.floats_in(at.gamma),
                                                .beta = launch.floats_in(at.beta),
                                                .residual = launch.in(at.residual),
                                                .activation = attributes.epilogue.activation,
                                                .epsilon = attributes.epsilon,
                                                .y = launch.out(0),
                                                .mean = launch.floats_out(1),
                                                .variance = launch.floats_out(2),
                                                .workspace = launch.workspace});
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    candidate.may_overwrite = overwrites_of_batch_norm(at);
    return candidate;
  });
}

std::vector<Candidate> batch_norm_inference(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_inference_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
        [view, dtype = type.dtype, at, attributes](const Launch& launch) {
          cpu::batch_norm_inference(launch.team, {.view = view,
                                                  .dtype = dtype,
                                                  .x = launch.in(0),
                                                  .gamma = launch.floats_in(at.gamma),
                                                  .beta = launch.floats_in(at.beta),
                                                  .mean = launch.floats_in(at.mean),
                                                  .variance = launch.floats_in(at.variance),
                                                  .residual = launch.in(at.residual),
                                                  .activation = attributes.epilogue.activation,
                                                  .epsilon = attributes.epsilon,
                                                  .y = launch.out(0),
                                                  .workspace = launch.workspace});
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> batch_norm_backward(Context& context, const Graph& graph, const Node& node,
                                           DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_backward_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[1]);
  // Outputs: dx, dbeta, then dgamma and dresidual if those inputs exist.
  const int dgamma = attributes.scale ? 2 : -1;
  const int dresidual = !attributes.epilogue.residual ? -1 : attributes.scale ? 3 : 2;
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout),
        layouts_of(graph, node.outputs, layout),
        [view, dtype = type.dtype, at, attributes, dgamma, dresidual](const Launch& launch) {
          cpu::batch_norm_backward(launch.team, {.view = view,
                                                 .dtype = dtype,
                                                 .dy = launch.in(0),
                                                 .second_dy = launch.in(at.second_dy),
                                                 .x = launch.in(1),
                                                 .gamma = launch.floats_in(at.gamma),
                                                 .mean = launch.floats_in(at.mean),
                                                 .variance = launch.floats_in(at.variance),
                                                 .activation = attributes.epilogue.activation,
                                                 .y = launch.in(at.y),
                                                 .epsilon = attributes.epsilon,
                                                 .dx = launch.out(0),
                                                 .dbeta = launch.floats_out(1),
                                                 .dgamma = launch.floats_out(dgamma),
                                                 .dresidual = launch.out(dresidual),
                                                 .workspace = launch.workspace});
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    candidate.may_overwrite = overwrites_of_batch_norm_backward(at, dresidual);
    return candidate;
  });
}

}  // namespace bench::onednn
