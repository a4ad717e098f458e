#include "kernels/cuda/gpu/batch_norm.h"

#include "kernels/batch_norm_candidates.h"
#include "kernels/cuda/device/context.h"
#include "kernels/cuda/ops/tickets.h"

namespace bench::cuda {
namespace {

/// A candidate with the same layout for all inputs and outputs.
Candidate summing_candidate(const Context& context, const Graph& graph, const Node& node,
                            const Layout& layout, DType dtype, TicketedBody body) {
  const View view = view_of(graph.shape(node.outputs[0]), layout);
  Candidate candidate;
  candidate.implementation = "cuda";
  candidate.inputs = layouts_of(graph, node.inputs, layout);
  candidate.outputs = layouts_of(graph, node.outputs, layout);
  candidate.workspace_bytes = batch_norm_workspace_bytes(view, dtype);
  candidate.launches = batch_norm_launches(view, dtype);
  candidate.seconds = memory_seconds(context, static_cast<double>(work_of(graph, node).bytes));
  candidate.make = make_with_tickets(batch_norm_ticket_bytes(view, dtype), std::move(body));
  return candidate;
}

/// Counts the second pass, which rereads `tensors` tensors of that type, and the kernel between the
/// passes.
void add_second_pass(const Context& context, const TensorType& type, int tensors,
                     Candidate& candidate) {
  candidate.intermediate_bytes =
      tensors * type.shape.elements() * static_cast<std::int64_t>(size_of(type.dtype));
  candidate.seconds +=
      kLaunchSeconds + memory_seconds(context, static_cast<double>(candidate.intermediate_bytes));
}

}  // namespace

std::vector<Candidate> batch_norm(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    Candidate candidate = summing_candidate(
        context, graph, node, layout, type.dtype,
        [view, dtype = type.dtype, attributes](const Launch& launch, unsigned* tickets) {
          BatchNormForward args = batch_norm_arguments(view, dtype, attributes, launch);
          args.tickets = tickets;
          batch_norm_forward(launch.stream, args);
        });
    candidate.may_overwrite = overwrites_of_batch_norm(batch_norm_inputs(attributes));
    add_second_pass(context, type, 1, candidate);
    return candidate;
  });
}

std::vector<Candidate> batch_norm_inference(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    Candidate candidate = gpu_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
        [view, dtype = type.dtype, attributes](const Launch& launch) {
          batch_norm_inference(launch.stream,
                               batch_norm_inference_arguments(view, dtype, attributes, launch));
        });
    candidate.may_overwrite = overwrites_of_batch_norm(batch_norm_inference_inputs(attributes));
    return candidate;
  });
}

std::vector<Candidate> batch_norm_backward(Context& context, const Graph& graph, const Node& node,
                                           DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_backward_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[1]);
  // x, and dz or its sources.
  const int read_again = residual_gradient_of(attributes) >= 0
                             ? 2
                             : 2 + (at.second_dy >= 0 ? 1 : 0) + (at.y >= 0 ? 1 : 0);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    Candidate candidate = summing_candidate(
        context, graph, node, layout, type.dtype,
        [view, dtype = type.dtype, attributes](const Launch& launch, unsigned* tickets) {
          BatchNormBackward args = batch_norm_backward_arguments(view, dtype, attributes, launch);
          args.tickets = tickets;
          batch_norm_backward(launch.stream, args);
        });
    candidate.may_overwrite = overwrites_of_batch_norm_backward(attributes);
    add_second_pass(context, type, read_again, candidate);
    return candidate;
  });
}

}  // namespace bench::cuda
