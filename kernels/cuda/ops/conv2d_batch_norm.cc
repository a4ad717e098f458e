#include <fmt/ostream.h>
#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/batch_norm.h"
#include "kernels/cuda/gpu/channel_statistics.h"
#include "kernels/cuda/ops/layers.h"
#include "kernels/cuda/ops/prologue.h"
#include "kernels/cuda/ops/tickets.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"

// A convolution and its batch norm, in two ways. With statistics from an engine, the convolution
// writes z and adds up its channels, and one pass over z makes y. Otherwise batch norm reads z once
// more before that. If only the statistics are wanted, y and the pass that makes it are omitted.
// The prologue of x is computed by the engine that gives statistics, or in a launch before it.

namespace bench::cuda {
namespace {

constexpr int kYOutput = 0;
constexpr int kMeanOutput = 1;
constexpr int kVarianceOutput = 2;

/// The output index of z.
int z_output(const Conv2dAttributes& attributes) {
  return attributes.statistics_only ? 0 : static_cast<int>(kNormalised);
}

/// Uses only the inputs: a hypothetical node has no outputs yet.
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

/// The kernels that follow the plan.
struct NormBehind {
  explicit NormBehind(const Conv2dAttributes& attributes)
      : epsilon(attributes.batch_norm->epsilon),
        activation(attributes.batch_norm->epilogue.activation),
        at(batch_norm_inputs(*attributes.batch_norm)),
        z(z_output(attributes)),
        statistics_only(attributes.statistics_only) {
    // Positions in the node: the filter comes before the inputs of batch norm.
    for (int* const position : {&at.gamma, &at.beta, &at.residual}) {
      *position += *position < 0 ? 0 : 1;
    }
  }

  double epsilon;
  ActivationKind activation;
  BatchNormInputs at;
  int z;
  bool statistics_only;
  View view = {};
  DType dtype = DType::f32;

  void run(const Launch& launch, unsigned* tickets) const {
    const BatchNormForward args{.view = view,
                                .dtype = dtype,
                                .x = launch.out(z),
                                .gamma = launch.floats_in(at.gamma),
                                .beta = launch.floats_in(at.beta),
                                .residual = launch.in(at.residual),
                                .activation = activation,
                                .epsilon = epsilon,
                                .y = statistics_only ? nullptr : launch.out(kYOutput),
                                .mean = launch.floats_out(kMeanOutput),
                                .variance = launch.floats_out(kVarianceOutput),
                                .workspace = launch.workspace,
                                .tickets = tickets};
    if (statistics_only) {
      batch_norm_statistics(launch.stream, args);
    } else {
      batch_norm_forward(launch.stream, args);
    }
  }

  [[nodiscard]] int launches() const {
    return statistics_only ? batch_norm_statistics_launches(view, dtype)
                           : batch_norm_launches(view, dtype);
  }

  /// Runs after the plan has stored the sums in place of mean and variance.
  void run_with_sums(const Launch& launch) const {
    finish_statistics(launch.stream, {.channels = view.channels,
                                      .count = view.batch * view.spatial,
                                      .mean = launch.floats_out(kMeanOutput),
                                      .variance = launch.floats_out(kVarianceOutput)});
    if (statistics_only) {
      return;
    }
    batch_norm_inference(launch.stream, {.view = view,
                                         .dtype = dtype,
                                         .x = launch.out(z),
                                         .gamma = launch.floats_in(at.gamma),
                                         .beta = launch.floats_in(at.beta),
                                         .mean = launch.floats_out(kMeanOutput),
                                         .variance = launch.floats_out(kVarianceOutput),
                                         .residual = launch.in(at.residual),
                                         .activation = activation,
                                         .epsilon = epsilon,
                                         .y = launch.out(kYOutput)});
  }
  [[nodiscard]] int launches_with_sums() const { return statistics_only ? 1 : 2; }
};

/// How a candidate computes the three parts.
struct Parts {
  NormBehind norm;
  /// True if the plan computes them.
  bool statistics = false;
  std::optional<PrologueRunner> prologue = {};

  /// The plan's launch and those before and after it.
  [[nodiscard]] int launches() const {
    return 1 + int{prologue.has_value()} +
           (statistics ? norm.launches_with_sums() : norm.launches());
  }

  /// The first bytes of the workspace, which the plan does not get.
  [[nodiscard]] std::size_t prologue_bytes() const {
    return prologue ? prologue->workspace_bytes() : 0;
  }

  void run(ConvolutionPlan& plan, const Launch& launch, unsigned* tickets) const {
    ConvolutionMemory memory{
        .first = launch.in(0),
        .second = launch.in(1),
        .result = launch.out(norm.z),
        .sums = statistics ? launch.floats_out(kMeanOutput) : nullptr,
        .squares = statistics ? launch.floats_out(kVarianceOutput) : nullptr,
        .workspace = static_cast<std::byte*>(launch.workspace) + prologue_bytes()};
    if (prologue) {
      prologue->run(launch, launch.workspace, memory.first, memory);
    }
    plan.launch(launch.stream, memory);
    if (statistics) {
      norm.run_with_sums(launch);
    } else {
      norm.run(launch, tickets);
    }
  }
};

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
        attributes_(node.attributes.as<Conv2dAttributes>()),
        parts_{.norm = NormBehind(attributes_)},
        z_bytes_(bytes_of(graph, node.outputs[static_cast<std::size_t>(parts_.norm.z)])) {
    parts_.norm.dtype = graph.type(node.inputs[0]).dtype;
  }

  void add(const Layout& layout) {
    const auto z = static_cast<std::size_t>(parts_.norm.z);
    parts_.norm.view = view_of(graph_.type(node_.outputs[z]).shape, layout);
    ConvolutionProblem problem = normalised_problem(graph_, node_, parts_.norm.view.order);
    parts_.statistics = false;
    set_prologue(layout, false);
    add(layout, problem);
    problem.statistics = parts_.statistics = true;
    add(layout, problem);
    if (attributes_.prologue) {
      problem.prologue = true;
      set_prologue(layout, true);
      add(layout, problem);
    }
  }

  std::vector<Candidate> take() { return std::move(candidates_); }

 private:
  void set_prologue(const Layout& layout, bool in_plan) {
    if (attributes_.prologue) {
      parts_.prologue.emplace(graph_, node_, *attributes_.prologue, 0, layout, in_plan);
    }
  }

  /// Bytes read and written in addition to the node's inputs and outputs.
  [[nodiscard]] std::int64_t intermediate_bytes() const {
    // z is read again: for the statistics, and for y.
    const int times = (parts_.statistics ? 0 : 1) + (attributes_.statistics_only ? 0 : 1);
    return times * z_bytes_ + (parts_.prologue ? parts_.prologue->intermediate_bytes() : 0);
  }

  /// The estimated time.
  [[nodiscard]] double seconds(const ConvolutionChoice& choice) const {
    const Work all = work_of(graph_, node_);
    const std::int64_t of_convolution =
        bytes_of(graph_, node_.inputs[0]) + bytes_of(graph_, node_.inputs[1]) + z_bytes_;
    const double convolution =
        layer_seconds(context_, {.multiply_adds = all.multiply_adds, .bytes = of_convolution},
                      {.dtype = parts_.norm.dtype,
                       .tensor_cores = choice.tensor_cores,
                       .workspace_bytes = choice.workspace_bytes});
    const std::int64_t passes = all.bytes - of_convolution + intermediate_bytes();
    const int launches = (parts_.statistics ? 0 : 1) + (parts_.prologue ? 1 : 0) + 1;
    return convolution + memory_seconds(context_, static_cast<double>(passes)) +
           launches * kLaunchSeconds;
  }

  [[nodiscard]] std::string name_of_parts(const std::string& choice) const {
    const bool ahead = parts_.prologue && !parts_.prologue->in_plan();
    const bool in_plan = parts_.prologue && parts_.prologue->in_plan();
    std::string name = ahead ? "cuda+" + choice : choice;
    if (in_plan) {
      name += "+prologue";
    }
    if (parts_.statistics) {
      name += "+statistics";
    }
    return name + "+cuda";
  }

  /// Adds the candidates of the choices for one problem.
  void add(const Layout& layout, const ConvolutionProblem& problem) {
    const NormBehind& norm = parts_.norm;
    double last = 0;
    for (ConvolutionChoice& choice : convolution_choices(context_, problem)) {
      last = last > 0 ? last * (1 + kNextChoice) : seconds(choice);
      Candidate& candidate = candidates_.emplace_back();
      candidate.implementation = name_of_parts(choice.implementation);
      candidate.way = name_of_parts("");
      candidate.inputs = layouts_of(graph_, node_.inputs, layout);
      candidate.outputs = layouts_of(graph_, node_.outputs, layout);
      candidate.workspace_bytes =
          std::max(parts_.prologue_bytes() + choice.workspace_bytes,
                   parts_.statistics ? 0 : batch_norm_workspace_bytes(norm.view, norm.dtype));
      candidate.launches = parts_.launches();
      candidate.intermediate_bytes = intermediate_bytes();
      candidate.seconds = last;
      candidate.deterministic = choice.deterministic;
      if (norm.at.residual >= 0) {
        candidate.may_overwrite = {
            {.output = kYOutput, .input = static_cast<std::size_t>(norm.at.residual)}};
      }
      candidate.make =
          [parts = parts_, make = std::move(choice.make),
           bytes = parts_.statistics ? 0 : batch_norm_ticket_bytes(norm.view, norm.dtype)] {
            const std::shared_ptr<ConvolutionPlan> plan = make();
            return make_with_tickets(bytes, [parts, plan](const Launch& launch, unsigned* tickets) {
              parts.run(*plan, launch, tickets);
            })();
          };
    }
  }

  Context& context_;
  const Graph& graph_;
  const Node& node_;
  const Conv2dAttributes& attributes_;
  Parts parts_;
  std::int64_t z_bytes_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::string why_no_batch_norm(const Context& context, const Graph& graph, const Node& node) {
  ConvolutionProblem problem = normalised_problem(graph, node, Order::nhwc);
  problem.statistics = true;
  if (problem.groups != 1) {
    return "a grouped convolution is faster with a separate batch norm";
  }
  const auto& prologue = node.attributes.as<Conv2dAttributes>().prologue;
  problem.prologue = prologue.has_value();
  if (prologue) {
    return why_no_prologue(context, *prologue, problem);
  }
  if (!context.convolutions.choices(problem).empty()) {
    return "";
  }
  return fmt::format("{} cannot compute batch norm statistics in a convolution in {} with {}",
                     context.device.name, name_of(problem.dtype),
                     fmt::streamed(node.attributes.as<Conv2dAttributes>().window));
}

std::vector<Candidate> conv2d_batch_norm(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  NormCandidates candidates(context, graph, node);
  for (const Layout& layout : plain_layouts(graph.shape(node.inputs[0]), format)) {
    candidates.add(layout);
  }
  return candidates.take();
}

}  // namespace bench::cuda
