#include "kernels/cuda/gpu/batch_norm.h"

#include "kernels/cuda/context.h"
#include "kernels/cuda/memory.h"
#include "models/ops/batch_norm.h"

namespace bench::cuda {
namespace {

/// y may take the place of x, or of the residual where there is one.
std::vector<Candidate::Overwrite> overwrites_of_forward(const BatchNormInputs& at) {
  std::vector<Candidate::Overwrite> overwrites{{.output = 0, .input = 0}};
  if (at.residual >= 0) {
    overwrites.push_back({.output = 0, .input = static_cast<std::size_t>(at.residual)});
  }
  return overwrites;
}

/// With a residual its gradient takes a dy's place and dx that of x; without one dx takes a dy's.
std::vector<Candidate::Overwrite> overwrites_of_backward(const BatchNormInputs& at, int dresidual) {
  const std::size_t of_dy = dresidual >= 0 ? static_cast<std::size_t>(dresidual) : 0;
  std::vector<Candidate::Overwrite> overwrites{{.output = of_dy, .input = 0}};
  if (dresidual >= 0) {
    overwrites.push_back({.output = 0, .input = 1});
  }
  if (at.second_dy >= 0) {
    overwrites.push_back({.output = of_dy, .input = static_cast<std::size_t>(at.second_dy)});
  }
  return overwrites;
}

using Body = std::function<void(const Launch&, unsigned* tickets)>;

/// A kernel with tickets for its last blocks, memory of its own: what it leaves there is what it
/// finds in the next launch.
std::function<std::unique_ptr<Kernel>()> make_with_tickets(std::size_t bytes, Body body) {
  return [bytes, body = std::move(body)] {
    const std::shared_ptr<DeviceMemory> tickets = allocate_gpu_memory(bytes);
    return make_gpu_kernel([tickets, body](const Launch& launch) {
      body(launch, reinterpret_cast<unsigned*>(tickets->data()));
    })();
  };
}

/// With the layouts of all inputs and outputs alike.
Candidate summing_candidate(const Context& context, const Graph& graph, const Node& node,
                            const Layout& layout, DType dtype, Body body) {
  const View view = view_of(graph.shape(node.outputs[0]), layout);
  Candidate candidate;
  candidate.implementation = "cuda";
  candidate.inputs = layouts_of(graph, node.inputs, layout);
  candidate.outputs = layouts_of(graph, node.outputs, layout);
  candidate.workspace_bytes = batch_norm_workspace_bytes(view, dtype);
  candidate.seconds = memory_seconds(context, static_cast<double>(work_of(graph, node).bytes));
  candidate.make = make_with_tickets(batch_norm_ticket_bytes(view, dtype), std::move(body));
  return candidate;
}

}  // namespace

std::vector<Candidate> batch_norm(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[0]);
  std::vector<Candidate> candidates;
  for (const Layout& layout : activation_layouts(type.shape, format)) {
    const View view = view_of(type.shape, layout);
    Candidate& candidate = candidates.emplace_back(summing_candidate(
        context, graph, node, layout, type.dtype,
        [view, dtype = type.dtype, at, attributes](const Launch& launch, unsigned* tickets) {
          batch_norm_forward(launch.stream, {.view = view,
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
                                             .workspace = launch.workspace,
                                             .tickets = tickets});
        }));
    candidate.may_overwrite = overwrites_of_forward(at);
  }
  return candidates;
}

std::vector<Candidate> batch_norm_inference(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_inference_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[0]);
  std::vector<Candidate> candidates;
  for (const Layout& layout : activation_layouts(type.shape, format)) {
    const View view = view_of(type.shape, layout);
    Candidate& candidate = candidates.emplace_back(gpu_candidate(
        context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
        [view, dtype = type.dtype, at, attributes](const Launch& launch) {
          batch_norm_inference(launch.stream, {.view = view,
                                               .dtype = dtype,
                                               .x = launch.in(0),
                                               .gamma = launch.floats_in(at.gamma),
                                               .beta = launch.floats_in(at.beta),
                                               .mean = launch.floats_in(at.mean),
                                               .variance = launch.floats_in(at.variance),
                                               .residual = launch.in(at.residual),
                                               .activation = attributes.epilogue.activation,
                                               .epsilon = attributes.epsilon,
                                               .y = launch.out(0)});
        }));
    candidate.may_overwrite = overwrites_of_forward(at);
  }
  return candidates;
}

std::vector<Candidate> batch_norm_backward(Context& context, const Graph& graph, const Node& node,
                                           DataFormat format) {
  const auto& attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_backward_inputs(attributes);
  const TensorType& type = graph.type(node.inputs[1]);
  // Outputs: dx, dbeta, then dgamma and dresidual where there are such inputs.
  const int dgamma = attributes.scale ? 2 : -1;
  const int dresidual = !attributes.epilogue.residual ? -1 : attributes.scale ? 3 : 2;
  std::vector<Candidate> candidates;
  for (const Layout& layout : activation_layouts(type.shape, format)) {
    const View view = view_of(type.shape, layout);
    Candidate& candidate = candidates.emplace_back(summing_candidate(
        context, graph, node, layout, type.dtype,
        [view, dtype = type.dtype, at, attributes, dgamma, dresidual](const Launch& launch,
                                                                      unsigned* tickets) {
          batch_norm_backward(launch.stream, {.view = view,
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
                                              .workspace = launch.workspace,
                                              .tickets = tickets});
        }));
    candidate.may_overwrite = overwrites_of_backward(at, dresidual);
  }
  return candidates;
}

}  // namespace bench::cuda
