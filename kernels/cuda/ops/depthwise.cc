#include "kernels/cuda/ops/depthwise.h"

#include "kernels/cuda/gpu/depthwise.h"
#include "kernels/cuda/ops/layers.h"
#include "kernels/cuda/ops/window_axes.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;

std::optional<ChannelWindows> depthwise_of(const ConvolutionProblem& problem) {
  const std::int64_t channels = problem.x[1];
  if (problem.groups == 1 || problem.groups != channels || problem.y[1] != channels) {
    return {};
  }
  const Shape x{problem.x[0], problem.x[1], problem.x[2], problem.x[3]};
  const ChannelWindows convolution =
      channel_windows(problem.window, x, problem.dtype, problem.order);
  return has_depthwise(convolution) ? std::optional(convolution) : std::nullopt;
}

void run(const ChannelWindows& convolution, Pass pass, const Epilogue& epilogue,
         const Launch& launch) {
  switch (pass) {
    case Pass::forward: {
      const int bias = epilogue.bias ? 2 : -1;
      const int residual = !epilogue.residual ? -1 : epilogue.bias ? 3 : 2;
      return depthwise_forward(launch.stream, {.convolution = convolution,
                                               .x = launch.in(0),
                                               .filter = launch.in(1),
                                               .bias = launch.floats_in(bias),
                                               .residual = launch.in(residual),
                                               .activation = epilogue.activation,
                                               .y = launch.out(0)});
    }
    case Pass::data:
      return depthwise_data(launch.stream, {.convolution = convolution,
                                            .dy = launch.in(0),
                                            .filter = launch.in(1),
                                            .dx = launch.out(0)});
    case Pass::filter:
      return depthwise_filter(launch.stream, {.convolution = convolution,
                                              .dy = launch.in(0),
                                              .x = launch.in(1),
                                              .dw = launch.floats_out(0),
                                              .workspace = launch.workspace});
  }
}

}  // namespace

std::optional<Candidate> depthwise_candidate(const Context& context, const Graph& graph,
                                             const Node& node, const ConvolutionProblem& problem,
                                             const Layout& layout) {
  const std::optional<ChannelWindows> found = depthwise_of(problem);
  if (!found) {
    return {};
  }
  // If estimates are equal, this candidate comes first: cuDNN pads groups of one channel to a whole
  // fragment of a tensor core.
  Candidate candidate;
  candidate.implementation = "cuda:depthwise";
  candidate.way = "cuda:depthwise";
  candidate.inputs = layouts_of(graph, node.inputs, layout);
  candidate.outputs = {layout};
  candidate.seconds = layer_seconds(context, work_of(graph, node), {.dtype = problem.dtype});
  if (problem.pass == Pass::filter) {
    candidate.workspace_bytes = depthwise_filter_workspace_bytes(*found);
    candidate.launches = 2;  // One makes partial sums, one joins them.
    candidate.intermediate_bytes = 2 * static_cast<std::int64_t>(candidate.workspace_bytes);
    const double again = depthwise_filter_reads(*found) - 1.0;
    candidate.seconds += again * static_cast<double>(work_of(graph, node).bytes) /
                             planning_speeds(context.device).bytes_per_second +
                         memory_seconds(context, static_cast<double>(candidate.intermediate_bytes));
  }
  candidate.make =
      make_gpu_kernel([convolution = *found, pass = problem.pass, epilogue = problem.epilogue](
                          const Launch& launch) { run(convolution, pass, epilogue, launch); });
  return candidate;
}

}  // namespace bench::cuda
