#include "kernels/cpu/loss.h"

#include "kernels/cpu/ctc_loss.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/multibox_loss.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/loss.h"

namespace bench::onednn {
namespace {

Layout scalar() { return row_major(0); }
Layout line() { return row_major(1); }

const std::int32_t* labels(const Launch& launch) {
  return launch.inputs[1].as<const std::int32_t>();
}

}  // namespace

std::vector<Candidate> softmax_cross_entropy(Context& context, const Graph& graph, const Node& node,
                                             DataFormat /*format*/) {
  const auto attributes = node.attributes.as<SoftmaxCrossEntropyAttributes>();
  const Shape shape = graph.shape(node.inputs[0]);
  return {vector_candidate(context, graph, node, {row_major(2), line()}, {scalar(), row_major(2)},
                           [attributes, shape](const Launch& launch) {
                             const double loss = cpu::softmax_cross_entropy(
                                 launch.team, {.attributes = attributes,
                                               .rows = shape[0],
                                               .classes = shape[1],
                                               .logits = launch.floats_in(0),
                                               .labels = labels(launch),
                                               .probabilities = launch.floats_out(1)});
                             *launch.floats_out(0) = static_cast<float>(loss);
                           })};
}

std::vector<Candidate> softmax_cross_entropy_backward(Context& context, const Graph& graph,
                                                      const Node& node, DataFormat /*format*/) {
  const auto attributes = node.attributes.as<SoftmaxCrossEntropyAttributes>();
  const Shape shape = graph.shape(node.inputs[0]);
  return {vector_candidate(context, graph, node, {row_major(2), line(), scalar()}, {row_major(2)},
                           [attributes, shape](const Launch& launch) {
                             cpu::softmax_cross_entropy_backward(
                                 launch.team, {.attributes = attributes,
                                               .rows = shape[0],
                                               .classes = shape[1],
                                               .probabilities = launch.floats_in(0),
                                               .labels = labels(launch),
                                               .dloss = *launch.floats_in(2),
                                               .dlogits = launch.floats_out(0)});
                           })};
}

std::vector<Candidate> ctc_loss(Context& context, const Graph& graph, const Node& node,
                                DataFormat /*format*/) {
  const Shape logits = graph.shape(node.inputs[0]);
  const cpu::CtcLoss problem{.frames = logits[0],
                             .examples = logits[1],
                             .classes = logits[2],
                             .labels_stride = graph.shape(node.inputs[1])[1]};
  Candidate candidate = vector_candidate(
      context, graph, node, {row_major(3), row_major(2), line(), line()}, {scalar(), row_major(3)},
      [problem](const Launch& launch) {
        cpu::CtcLoss args = problem;
        args.logits = launch.floats_in(0);
        args.labels = labels(launch);
        args.label_counts = launch.inputs[2].as<const std::int32_t>();
        args.frame_counts = launch.inputs[3].as<const std::int32_t>();
        args.dlogits = launch.floats_out(1);
        args.workspace = launch.workspace;
        *launch.floats_out(0) = static_cast<float>(cpu::ctc_loss(launch.team, args));
      });
  candidate.workspace_bytes = cpu::ctc_workspace_bytes(problem, context.team.size());
  return {candidate};
}

std::vector<Candidate> ctc_loss_backward(Context& context, const Graph& graph, const Node& node,
                                         DataFormat /*format*/) {
  const std::int64_t count = graph.shape(node.inputs[0]).elements();
  return {vector_candidate(context, graph, node, {row_major(3), scalar()}, {row_major(3)},
                           [count](const Launch& launch) {
                             cpu::scale(launch.team, {.count = count,
                                                      .x = launch.floats_in(0),
                                                      .factor = *launch.floats_in(1),
                                                      .y = launch.floats_out(0)});
                           })};
}

std::vector<Candidate> multibox_loss(Context& context, const Graph& graph, const Node& node,
                                     DataFormat /*format*/) {
  const Shape scores = graph.shape(node.inputs[1]);
  const cpu::MultiboxLoss problem{
      .examples = scores[0], .anchors = scores[1], .score_count = scores[2]};
  Candidate candidate = vector_candidate(
      context, graph, node, {row_major(3), row_major(3), row_major(3), row_major(2)},
      {scalar(), row_major(3), row_major(3)}, [problem](const Launch& launch) {
        cpu::MultiboxLoss args = problem;
        args.offsets = launch.floats_in(0);
        args.scores = launch.floats_in(1);
        args.target_offsets = launch.floats_in(2);
        args.classes = launch.inputs[3].as<const std::int32_t>();
        args.doffsets = launch.floats_out(1);
        args.dscores = launch.floats_out(2);
        args.workspace = launch.workspace;
        *launch.floats_out(0) = static_cast<float>(cpu::multibox_loss(launch.team, args));
      });
  candidate.workspace_bytes = cpu::multibox_workspace_bytes(problem);
  return {candidate};
}

std::vector<Candidate> multibox_loss_backward(Context& context, const Graph& graph,
                                              const Node& node, DataFormat /*format*/) {
  const auto elements = [&](std::size_t input) {
    return graph.shape(node.inputs[input]).elements();
  };
  return {vector_candidate(context, graph, node, {row_major(3), row_major(3), scalar()},
                           {row_major(3), row_major(3)},
                           [offsets = elements(0), scores = elements(1)](const Launch& launch) {
                             const auto scale = [&](int position, std::int64_t count) {
                               cpu::scale(launch.team, {.count = count,
                                                        .x = launch.floats_in(position),
                                                        .factor = *launch.floats_in(2),
                                                        .y = launch.floats_out(position)});
                             };
                             scale(0, offsets);
                             scale(1, scores);
                           })};
}

std::vector<Candidate> l2_loss(Context& context, const Graph& graph, const Node& node,
                               DataFormat /*format*/) {
  // The order of the elements does not matter, and the padding of a layout is zero.
  const double coefficient = node.attributes.as<L2LossAttributes>().coefficient;
  const std::size_t count = node.inputs.size();
  std::vector<std::span<const float>> tensors(count);
  return {vector_candidate(
      context, graph, node, std::vector<Layout>(count, Layout::any()), {scalar()},
      [coefficient, tensors](const Launch& launch) mutable {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          tensors[i] = {launch.inputs[i].as<const float>(), launch.inputs[i].bytes / sizeof(float)};
        }
        const double sum = cpu::sum_of_squares(launch.team, tensors);
        *launch.floats_out(0) = static_cast<float>(coefficient * sum / 2);
      })};
}

std::vector<Candidate> l2_loss_backward(Context& context, const Graph& graph, const Node& node,
                                        DataFormat /*format*/) {
  const double coefficient = node.attributes.as<L2LossAttributes>().coefficient;
  const Shape& shape = graph.shape(node.inputs[0]);
  const Layout layout = row_major(shape.rank());
  const std::int64_t count = shape.elements();
  return {vector_candidate(
      context, graph, node, {layout, scalar()}, {layout},
      [coefficient, count](const Launch& launch) {
        cpu::scale(launch.team, {.count = count,
                                 .x = launch.floats_in(0),
                                 .factor = coefficient * static_cast<double>(*launch.floats_in(1)),
                                 .y = launch.floats_out(0)});
      })};
}

std::vector<Candidate> top_k_accuracy(Context& context, const Graph& graph, const Node& node,
                                      DataFormat /*format*/) {
  const Shape shape = graph.shape(node.inputs[0]);
  const std::int64_t k = node.attributes.as<TopKAttributes>().k;
  return {vector_candidate(
      context, graph, node, {row_major(2), line()}, {scalar()}, [shape, k](const Launch& launch) {
        const double share = cpu::top_k_accuracy(launch.team, {.rows = shape[0],
                                                               .classes = shape[1],
                                                               .logits = launch.floats_in(0),
                                                               .labels = labels(launch),
                                                               .k = k});
        *launch.floats_out(0) = static_cast<float>(share);
      })};
}

}  // namespace bench::onednn
