#include "models/ops/conv2d.h"

#include <algorithm>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/channel_pad.h"
#include "kernels/cuda/gpu/elementwise.h"
#include "kernels/cuda/gpu/epilogue.h"
#include "kernels/cuda/gpu/spatial_pad.h"
#include "kernels/cuda/ops/depthwise.h"
#include "kernels/cuda/ops/layers.h"
#include "kernels/cuda/ops/prologue.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;

/// A maker's description of its node, except for the order of the axes.
struct Layer {
  Pass pass = Pass::forward;
  Window window = {};
  std::int64_t groups = 1;
  Shape x = {};
  Shape filter = {};
  Shape y = {};
  Epilogue epilogue = {};
  /// Only for a filter gradient.
  std::optional<BatchNormAttributes> prologue = {};
};

/// Zeros after the channels of x, and of the filter or its gradient. Images have three channels,
/// but cuDNN's fast engines need pixels of 8 or 16 bytes.
struct Padding {
  DType dtype = DType::f16;
  bool filter_gradient = false;
  std::int64_t channels = 0;
  std::int64_t padded = 0;
  std::int64_t x_rows = 0;
  std::int64_t filter_rows = 0;

  [[nodiscard]] std::size_t bytes_of(std::int64_t rows) const {
    return aligned(static_cast<std::size_t>(rows * padded) * size_of(dtype));
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_of(x_rows) + bytes_of(filter_rows); }

  [[nodiscard]] ChannelPad rows(std::int64_t count, const void* from, void* to) const {
    return {.dtype = dtype,
            .rows = count,
            .channels = channels,
            .padded = padded,
            .from = from,
            .to = to};
  }

  /// Points the plan's memory to padded tensors in `workspace`.
  void before(cudaStream_t stream, std::byte* workspace, ConvolutionMemory& memory) const {
    std::byte* const filter = workspace + bytes_of(x_rows);
    const void*& x = filter_gradient ? memory.second : memory.first;
    pad_channels(stream, rows(x_rows, x, workspace));
    x = workspace;
    if (filter_gradient) {
      memory.result = filter;
    } else {
      pad_channels(stream, rows(filter_rows, memory.second, filter));
      memory.second = filter;
    }
  }

  /// Copies a filter gradient to where it belongs.
  void after(cudaStream_t stream, const ConvolutionMemory& memory, void* result) const {
    if (filter_gradient) {
      spatial_pad(stream, {.view = {.order = Order::nchw, .batch = filter_rows, .spatial = padded},
                           .height = 1,
                           .width = padded,
                           .pad = {.after = {0, channels - padded}},
                           .dtype = dtype,
                           .x = memory.result,
                           .y = result});
    }
  }
};

/// Launches a plan on a node's tensors, in the order of ConvolutionMemory, and the remaining
/// kernels. The workspace's first bytes are the runner's, the others the plan's.
struct Runner {
  DType dtype = DType::f32;
  DType result = DType::f32;
  std::int64_t result_elements = 0;
  Epilogue epilogue = {};
  /// True if the plan computes the epilogue; otherwise a separate kernel of ours follows.
  bool fused = false;
  /// The view of y, if there is an epilogue.
  View view = {};
  /// Only for a filter gradient, whose second input is x.
  std::optional<PrologueRunner> prologue = {};
  std::optional<Padding> padding = {};

  /// A result with more digits than the plan writes is widened afterwards.
  [[nodiscard]] std::size_t narrow_bytes() const {
    return widens() ? aligned(static_cast<std::size_t>(result_elements) * size_of(dtype)) : 0;
  }

  /// Bytes written and read again between the plan and the kernels that follow.
  [[nodiscard]] std::int64_t intermediate_bytes() const {
    return (widens() || epilogue_behind()
                ? 2 * result_elements * static_cast<std::int64_t>(size_of(dtype))
                : 0) +
           (prologue ? prologue->intermediate_bytes() : 0) +
           (padding ? 2 * static_cast<std::int64_t>(padding->bytes()) : 0);
  }

  /// A plan with an epilogue adds a bias of its other tensors' type.
  [[nodiscard]] std::size_t bias_bytes() const {
    const bool given = epilogue.bias && dtype == DType::f32;
    return !fused || given ? 0 : aligned(static_cast<std::size_t>(view.channels) * size_of(dtype));
  }

  [[nodiscard]] std::size_t prologue_bytes() const {
    return prologue ? prologue->workspace_bytes() : 0;
  }

  [[nodiscard]] std::size_t padding_bytes() const { return padding ? padding->bytes() : 0; }

  [[nodiscard]] std::size_t own_bytes() const {
    return narrow_bytes() + bias_bytes() + prologue_bytes() + padding_bytes();
  }

  [[nodiscard]] bool widens() const { return result != dtype; }
  [[nodiscard]] bool epilogue_behind() const { return !fused && !epilogue.empty(); }

  /// The plan's launch and the additional ones.
  [[nodiscard]] int launches() const {
    return 1 + int{bias_bytes() > 0} + int{prologue.has_value()} + int{widens()} +
           int{epilogue_behind()} + (padding ? 2 : 0);
  }

  /// Estimated time of the launches in addition to the plan.
  [[nodiscard]] double own_seconds(const Context& context) const {
    const auto between = static_cast<double>(intermediate_bytes());
    return (bias_bytes() > 0 ? kLaunchSeconds : 0.0) + (prologue ? kLaunchSeconds : 0.0) +
           (padding ? 2 * kLaunchSeconds : 0.0) +
           (between > 0 ? memory_seconds(context, between) : 0.0);
  }

  void run(ConvolutionPlan& plan, const Launch& launch) const {
    auto* const workspace = static_cast<std::byte*>(launch.workspace);
    const std::size_t narrow = narrow_bytes();
    void* const converted = workspace + narrow;
    if (bias_bytes() > 0) {
      convert_bias(launch, converted);
    }
    ConvolutionMemory memory{.first = launch.in(0),
                             .second = launch.in(1),
                             .result = widens() ? launch.workspace : launch.out(0),
                             .bias = bias_bytes() > 0 ? converted : launch.in(bias()),
                             .residual = launch.in(residual()),
                             .workspace = workspace + own_bytes()};
    if (prologue) {
      prologue->run(launch, workspace + narrow + bias_bytes(), memory.second, memory);
    }
    void* const unpadded = memory.result;
    if (padding) {
      padding->before(launch.stream, workspace + own_bytes() - padding_bytes(), memory);
    }
    plan.launch(launch.stream, memory);
    if (padding) {
      padding->after(launch.stream, memory, unpadded);
    }
    if (widens()) {
      cast(launch.stream, {.count = result_elements,
                           .from = dtype,
                           .x = launch.workspace,
                           .to = result,
                           .y = launch.out(0)});
    }
    if (epilogue_behind()) {
      apply_epilogue(launch.stream, {.view = view,
                                     .dtype = dtype,
                                     .x = launch.out(0),
                                     .bias = launch.floats_in(bias()),
                                     .residual = launch.in(residual()),
                                     .activation = epilogue.activation,
                                     .y = launch.out(0)});
    }
  }

 private:
  // Positions among the node's inputs; negative for a missing input.
  [[nodiscard]] int bias() const { return epilogue.bias ? 2 : -1; }
  [[nodiscard]] int residual() const { return epilogue.residual ? (epilogue.bias ? 3 : 2) : -1; }

  /// Writes zeros if the node has no bias.
  void convert_bias(const Launch& launch, void* to) const {
    if (epilogue.bias) {
      cast(launch.stream, {.count = view.channels,
                           .from = DType::f32,
                           .x = launch.in(bias()),
                           .to = dtype,
                           .y = to});
    } else {
      check_cuda(cudaMemsetAsync(to, 0, bias_bytes(), launch.stream), "cudaMemsetAsync");
    }
  }
};

/// Collects the candidates from the plans for one problem.
class LayerCandidates {
 public:
  LayerCandidates(Context& context, const Graph& graph, const Node& node)
      : context_(context), graph_(graph), node_(node) {}

  /// Adds the candidates of the problem with its tensors in `layout`.
  void add(const ConvolutionProblem& problem, const Layout& layout, const Runner& runner,
           const std::string& suffix = {}, const std::string& prefix = {}) {
    double seconds = 0;
    for (ConvolutionChoice& choice : convolution_choices(context_, problem)) {
      seconds = seconds > 0 ? seconds * (1 + kNextChoice)
                            : runner.own_seconds(context_) +
                                  layer_seconds(context_, work_of(graph_, node_),
                                                {.dtype = runner.dtype,
                                                 .tensor_cores = choice.tensor_cores,
                                                 .workspace_bytes = choice.workspace_bytes});
      Candidate candidate;
      candidate.implementation = fmt::format("{}{}{}", prefix, choice.implementation, suffix);
      candidate.way = fmt::format("{}{}", prefix, suffix);
      candidate.inputs = layouts_of(graph_, node_.inputs, layout);
      candidate.outputs = {layout};
      candidate.workspace_bytes = runner.own_bytes() + choice.workspace_bytes;
      candidate.launches = runner.launches();
      candidate.intermediate_bytes = runner.intermediate_bytes();
      candidate.seconds = seconds;
      candidate.deterministic = choice.deterministic;
      candidate.make = [runner, make = std::move(choice.make)] {
        const std::shared_ptr<ConvolutionPlan> plan = make();
        return make_gpu_kernel(
            [runner, plan](const Launch& launch) { runner.run(*plan, launch); })();
      };
      candidates_.push_back(std::move(candidate));
    }
  }

  void add(std::optional<Candidate> candidate) {
    if (candidate) {
      candidates_.push_back(std::move(*candidate));
    }
  }

  std::vector<Candidate> take() { return std::move(candidates_); }

 private:
  Context& context_;
  const Graph& graph_;
  const Node& node_;
  std::vector<Candidate> candidates_;
};

/// Adds the candidates whose plan normalises x itself, and those with a separate kernel that does.
void add_with_prologue(LayerCandidates& candidates, const Graph& graph, const Node& node,
                       const BatchNormAttributes& prologue, ConvolutionProblem problem,
                       const Layout& layout, Runner runner) {
  runner.prologue.emplace(graph, node, prologue, 1, layout, false);
  candidates.add(problem, layout, runner, "", "cuda+");
  problem.prologue = true;
  runner.prologue.emplace(graph, node, prologue, 1, layout, true);
  candidates.add(problem, layout, runner, "+prologue");
}

/// Adds candidates with padded channels, for the few channels of images.
void add_padded(LayerCandidates& candidates, ConvolutionProblem problem, const Layout& layout,
                Runner runner) {
  if (problem.pass == Pass::data || problem.order != Order::nhwc || !is_half(problem.dtype) ||
      problem.groups != 1) {
    return;
  }
  const std::int64_t channels = problem.x[1];
  const auto rows = [](const std::array<std::int64_t, 4>& extents) {
    return extents[0] * extents[2] * extents[3];
  };
  for (const std::int64_t padded : {4, 8}) {
    if (channels >= padded) {
      continue;
    }
    problem.x[1] = problem.filter[1] = padded;
    runner.padding = {.dtype = problem.dtype,
                      .filter_gradient = problem.pass == Pass::filter,
                      .channels = channels,
                      .padded = padded,
                      .x_rows = rows(problem.x),
                      .filter_rows = rows(problem.filter)};
    candidates.add(problem, layout, runner, "", fmt::format("pad{}+", padded));
  }
}

std::vector<Candidate> candidates_of(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format, const Layer& layer) {
  const TensorType& result = graph.type(node.outputs[0]);
  LayerCandidates candidates(context, graph, node);
  for (const Layout& layout : plain_layouts(layer.x, format)) {
    ConvolutionProblem problem{.pass = layer.pass,
                               .dtype = graph.type(node.inputs[0]).dtype,
                               .order = layout == nhwc() ? Order::nhwc : Order::nchw,
                               .x = extents_of(layer.x),
                               .filter = extents_of(layer.filter),
                               .y = extents_of(layer.y),
                               .window = layer.window,
                               .groups = layer.groups};
    Runner runner{.dtype = problem.dtype,
                  .result = result.dtype,
                  .result_elements = result.shape.elements(),
                  .epilogue = layer.epilogue,
                  .view = view_of(layer.y, layout)};
    ConvolutionProblem whole = problem;
    whole.epilogue = layer.epilogue;
    if (layer.prologue) {
      add_with_prologue(candidates, graph, node, *layer.prologue, problem, layout, runner);
      continue;
    }
    candidates.add(depthwise_candidate(context, graph, node, whole, layout));
    if (layer.epilogue.empty()) {
      candidates.add(problem, layout, runner);
      add_padded(candidates, problem, layout, runner);
      continue;
    }
    candidates.add(problem, layout, runner, "+cuda");
    // With the epilogue in the same graph, if there are engines; they need a bias.
    problem.epilogue = layer.epilogue;
    problem.epilogue.bias = true;
    runner.fused = true;
    candidates.add(problem, layout, runner);
    add_padded(candidates, problem, layout, runner);
  }
  return candidates.take();
}

}  // namespace

std::vector<Candidate> conv2d(Context& context, const Graph& graph, const Node& node,
                              DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  if (attributes.batch_norm) {
    return conv2d_batch_norm(context, graph, node, format);
  }
  return candidates_of(context, graph, node, format,
                       {.pass = Pass::forward,
                        .window = attributes.window,
                        .groups = attributes.groups,
                        .x = graph.shape(node.inputs[0]),
                        .filter = graph.shape(node.inputs[1]),
                        .y = graph.shape(node.outputs[0]),
                        .epilogue = attributes.epilogue});
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
                        .y = graph.shape(node.inputs[0]),
                        .prologue = attributes.prologue});
}

}  // namespace bench::cuda
