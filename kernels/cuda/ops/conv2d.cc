#include "models/ops/conv2d.h"

#include <algorithm>

#include "kernels/cuda/context.h"
#include "kernels/cuda/gpu/elementwise.h"
#include "kernels/cuda/ops/layers.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;

/// Between candidates of the same layouts: their order is kept.
constexpr double kNextChoice = 0.01;
/// Of what lies in a workspace.
constexpr std::size_t kAlignment = 256;

std::array<std::int64_t, 4> extents(const Shape& shape) {
  return {shape[0], shape[1], shape[2], shape[3]};
}

/// What a maker knows of its node: everything but the order of the axes.
struct Layer {
  Pass pass = Pass::forward;
  Window window = {};
  std::int64_t groups = 1;
  Shape x = {};
  Shape filter = {};
  Shape y = {};
};

/// Those that give the same bits each time come first: no estimate, only time, chooses another one.
std::vector<ConvolutionChoice> choices_of(Context& context, const ConvolutionProblem& problem) {
  std::vector<ConvolutionChoice> choices = context.convolutions.choices(problem);
  std::ranges::stable_partition(choices, &ConvolutionChoice::deterministic);
  return choices;
}

/// Launches a plan on a node's tensors, whose order is that of ConvolutionMemory. A result of more
/// digits than the plan writes is widened behind it, out of the workspace's first bytes.
struct Runner {
  DType dtype = DType::f32;
  DType result = DType::f32;
  std::int64_t result_elements = 0;

  /// What the narrow result takes of the workspace.
  [[nodiscard]] std::size_t narrow_bytes() const {
    if (result == dtype) {
      return 0;
    }
    const std::size_t bytes = static_cast<std::size_t>(result_elements) * size_of(dtype);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  void run(ConvolutionPlan& plan, const Launch& launch) const {
    const std::size_t narrow = narrow_bytes();
    plan.launch(launch.stream, {.first = launch.in(0),
                                .second = launch.in(1),
                                .result = narrow > 0 ? launch.workspace : launch.out(0),
                                .workspace = static_cast<std::byte*>(launch.workspace) + narrow});
    if (narrow > 0) {
      cast(launch.stream, {.count = result_elements,
                           .from = dtype,
                           .x = launch.workspace,
                           .to = result,
                           .y = launch.out(0)});
    }
  }
};

std::vector<Candidate> candidates_of(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format, const Layer& layer) {
  const TensorType& result = graph.type(node.outputs[0]);
  const Runner runner{.dtype = graph.type(node.inputs[0]).dtype,
                      .result = result.dtype,
                      .result_elements = result.shape.elements()};
  std::vector<Candidate> candidates;
  for (const Layout& layout : activation_layouts(layer.x, format)) {
    const ConvolutionProblem problem{.pass = layer.pass,
                                     .dtype = runner.dtype,
                                     .order = layout == nhwc() ? Order::nhwc : Order::nchw,
                                     .x = extents(layer.x),
                                     .filter = extents(layer.filter),
                                     .y = extents(layer.y),
                                     .window = layer.window,
                                     .groups = layer.groups};
    double seconds = 0;
    for (ConvolutionChoice& choice : choices_of(context, problem)) {
      seconds = seconds > 0 ? seconds * (1 + kNextChoice)
                            : layer_seconds(context, graph, node,
                                            {.dtype = runner.dtype,
                                             .tensor_cores = choice.tensor_cores,
                                             .workspace_bytes = choice.workspace_bytes});
      Candidate candidate;
      candidate.implementation = std::move(choice.implementation);
      candidate.inputs = {layout, layout};
      candidate.outputs = {layout};
      candidate.workspace_bytes = runner.narrow_bytes() + choice.workspace_bytes;
      candidate.seconds = seconds;
      candidate.deterministic = choice.deterministic;
      candidate.make = [runner, make = std::move(choice.make)] {
        const std::shared_ptr<ConvolutionPlan> plan = make();
        return make_gpu_kernel(
            [runner, plan](const Launch& launch) { runner.run(*plan, launch); })();
      };
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace

std::vector<Candidate> conv2d(Context& context, const Graph& graph, const Node& node,
                              DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  return candidates_of(context, graph, node, format,
                       {.pass = Pass::forward,
                        .window = attributes.window,
                        .groups = attributes.groups,
                        .x = graph.shape(node.inputs[0]),
                        .filter = graph.shape(node.inputs[1]),
                        .y = graph.shape(node.outputs[0])});
}

std::vector<Candidate> conv2d_backward_data(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  return candidates_of(context, graph, node, format,
                       {.pass = Pass::data,
                        .window = attributes.window,
                        .groups = attributes.groups,
                        .x = attributes.input,
                        .filter = graph.shape(node.inputs[1]),
                        .y = graph.shape(node.inputs[0])});
}

std::vector<Candidate> conv2d_backward_weights(Context& context, const Graph& graph,
                                               const Node& node, DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  return candidates_of(context, graph, node, format,
                       {.pass = Pass::filter,
                        .window = attributes.window,
                        .groups = attributes.groups,
                        .x = graph.shape(node.inputs[1]),
                        .filter = attributes.weights,
                        .y = graph.shape(node.inputs[0])});
}

}  // namespace bench::cuda
