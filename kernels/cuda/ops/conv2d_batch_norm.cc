#include <algorithm>
#include <memory>

#include "kernels/cuda/context.h"
#include "kernels/cuda/gpu/batch_norm.h"
#include "kernels/cuda/gpu/channel_statistics.h"
#include "kernels/cuda/ops/layers.h"
#include "kernels/cuda/ops/tickets.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"

// A convolution and its batch norm, in two ways. With statistics from an engine the convolution
// writes z and adds up its channels, and one pass over z makes y; otherwise batch norm reads z once
// more before that.

namespace bench::cuda {
namespace {

constexpr int kYOutput = 0;
constexpr int kMeanOutput = 1;
constexpr int kVarianceOutput = 2;
constexpr int kZOutput = kNormalised;

/// From the inputs alone: a node that is only thought of has no outputs yet.
ConvolutionProblem normalised_problem(const Graph& graph, const Node& node, Order order) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  const TensorType& x = graph.type(node.inputs[0]);
  const Shape& filter = graph.shape(node.inputs[1]);
  return {.dtype = x.dtype,
          .order = order,
          .x = extents_of(x.shape),
          .filter = extents_of(filter),
          .y = {x.shape[0], filter[0], attributes.window.output_extent(0, x.shape[2]),
                attributes.window.output_extent(1, x.shape[3])},
          .window = attributes.window,
          .groups = attributes.groups};
}

/// What runs behind the plan.
struct NormBehind {
  explicit NormBehind(const BatchNormAttributes& attributes)
      : epsilon(attributes.epsilon),
        activation(attributes.epilogue.activation),
        at(batch_norm_inputs(attributes)) {
    // Of the node: the filter comes before batch norm's own inputs.
    for (int* const position : {&at.gamma, &at.beta, &at.residual}) {
      *position += *position < 0 ? 0 : 1;
    }
  }

  double epsilon;
  ActivationKind activation;
  BatchNormInputs at;
  View view = {};
  DType dtype = DType::f32;

  void run(const Launch& launch, unsigned* tickets) const {
    batch_norm_forward(launch.stream, {.view = view,
                                       .dtype = dtype,
                                       .x = launch.out(kZOutput),
                                       .gamma = launch.floats_in(at.gamma),
                                       .beta = launch.floats_in(at.beta),
                                       .residual = launch.in(at.residual),
                                       .activation = activation,
                                       .epsilon = epsilon,
                                       .y = launch.out(kYOutput),
                                       .mean = launch.floats_out(kMeanOutput),
                                       .variance = launch.floats_out(kVarianceOutput),
                                       .workspace = launch.workspace,
                                       .tickets = tickets});
  }

  /// Where the sums are in the places of mean and variance.
  void run_with_sums(const Launch& launch) const {
    finish_statistics(launch.stream, {.channels = view.channels,
                                      .count = view.batch * view.spatial,
                                      .mean = launch.floats_out(kMeanOutput),
                                      .variance = launch.floats_out(kVarianceOutput)});
    batch_norm_inference(launch.stream, {.view = view,
                                         .dtype = dtype,
                                         .x = launch.out(kZOutput),
                                         .gamma = launch.floats_in(at.gamma),
                                         .beta = launch.floats_in(at.beta),
                                         .mean = launch.floats_out(kMeanOutput),
                                         .variance = launch.floats_out(kVarianceOutput),
                                         .residual = launch.in(at.residual),
                                         .activation = activation,
                                         .epsilon = epsilon,
                                         .y = launch.out(kYOutput)});
  }
};

void run_both(ConvolutionPlan& plan, const NormBehind& norm, bool statistics, const Launch& launch,
              unsigned* tickets) {
  plan.launch(launch.stream, {.first = launch.in(0),
                              .second = launch.in(1),
                              .result = launch.out(kZOutput),
                              .sums = statistics ? launch.floats_out(kMeanOutput) : nullptr,
                              .squares = statistics ? launch.floats_out(kVarianceOutput) : nullptr,
                              .workspace = launch.workspace});
  if (statistics) {
    norm.run_with_sums(launch);
  } else {
    norm.run(launch, tickets);
  }
}

std::int64_t bytes_of(const Graph& graph, ValueId id) {
  const TensorType& type = graph.type(id);
  return type.shape.elements() * static_cast<std::int64_t>(size_of(type.dtype));
}

class NormCandidates {
 public:
  NormCandidates(Context& context, const Graph& graph, const Node& node)
      : context_(context),
        graph_(graph),
        node_(node),
        norm_(*node.attributes.as<Conv2dAttributes>().batch_norm),
        z_bytes_(bytes_of(graph, node.outputs[kNormalised])) {
    norm_.dtype = graph.type(node.inputs[0]).dtype;
  }

  void add(const Layout& layout) {
    const TensorType& z = graph_.type(node_.outputs[kNormalised]);
    norm_.view = view_of(z.shape, layout);
    ConvolutionProblem problem = normalised_problem(graph_, node_, norm_.view.order);
    const double behind = add(layout, problem, 0);
    problem.statistics = true;
    add(layout, problem, behind);
  }

  std::vector<Candidate> take() { return std::move(candidates_); }

 private:
  /// Estimated.
  [[nodiscard]] double seconds(const ConvolutionChoice& choice, bool statistics) const {
    const Work all = work_of(graph_, node_);
    const std::int64_t operands =
        bytes_of(graph_, node_.inputs[0]) + bytes_of(graph_, node_.inputs[1]);
    const double convolution =
        layer_seconds(context_, {.multiply_adds = all.multiply_adds, .bytes = operands + z_bytes_},
                      {.dtype = norm_.dtype,
                       .tensor_cores = choice.tensor_cores,
                       .workspace_bytes = choice.workspace_bytes});
    const std::int64_t passes = all.bytes - operands + (statistics ? 0 : z_bytes_);
    return convolution + memory_seconds(context_, static_cast<double>(passes)) +
           (statistics ? 1 : 2) * kLaunchSeconds;
  }

  /// Those by the choices for one problem. Choices that give other bits each time come behind
  /// `least`. Returns the estimate of the slowest one.
  double add(const Layout& layout, const ConvolutionProblem& problem, double least) {
    const bool statistics = problem.statistics;
    double last = 0;
    for (ConvolutionChoice& choice : convolution_choices(context_, problem)) {
      last = last > 0 ? last * (1 + kNextChoice) : seconds(choice, statistics);
      if (!choice.deterministic) {
        last = std::max(last, least * (1 + kNextChoice));
      }
      Candidate& candidate = candidates_.emplace_back();
      candidate.implementation =
          cat(choice.implementation, statistics ? "+statistics+cuda" : "+cuda");
      candidate.inputs = layouts_of(graph_, node_.inputs, layout);
      candidate.outputs = layouts_of(graph_, node_.outputs, layout);
      candidate.workspace_bytes =
          std::max(choice.workspace_bytes,
                   statistics ? 0 : batch_norm_workspace_bytes(norm_.view, norm_.dtype));
      candidate.intermediate_bytes = statistics ? z_bytes_ : 2 * z_bytes_;
      candidate.seconds = last;
      candidate.deterministic = choice.deterministic;
      if (norm_.at.residual >= 0) {
        candidate.may_overwrite = {
            {.output = kYOutput, .input = static_cast<std::size_t>(norm_.at.residual)}};
      }
      candidate.make = [norm = norm_, statistics, make = std::move(choice.make),
                        bytes = statistics ? 0 : batch_norm_ticket_bytes(norm_.view, norm_.dtype)] {
        const std::shared_ptr<ConvolutionPlan> plan = make();
        return make_with_tickets(bytes,
                                 [norm, statistics, plan](const Launch& launch, unsigned* tickets) {
                                   run_both(*plan, norm, statistics, launch, tickets);
                                 })();
      };
    }
    return last;
  }

  Context& context_;
  const Graph& graph_;
  const Node& node_;
  NormBehind norm_;
  std::int64_t z_bytes_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::string why_no_batch_norm(const Context& context, const Graph& graph, const Node& node) {
  ConvolutionProblem problem = normalised_problem(graph, node, Order::nhwc);
  problem.statistics = true;
  if (problem.groups != 1) {
    return "a convolution in groups has faster kernels apart from its batch norm";
  }
  if (!context.convolutions.choices(problem).empty()) {
    return "";
  }
  return cat(context.device.name, " takes no statistics from a convolution in ",
             name_of(problem.dtype), " with ", node.attributes.as<Conv2dAttributes>().window);
}

std::vector<Candidate> conv2d_batch_norm(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  NormCandidates candidates(context, graph, node);
  for (const Layout& layout : activation_layouts(graph.shape(node.inputs[0]), format)) {
    candidates.add(layout);
  }
  return candidates.take();
}

}  // namespace bench::cuda
