#include "kernels/cuda/gpu/loss.h"

#include "kernels/cuda/device/context.h"
#include "models/ops/loss.h"

namespace bench::cuda {
namespace {

Layout scalar() { return row_major(0); }
Layout line() { return row_major(1); }
Layout rows() { return row_major(2); }

/// Kernels of a sum over rows: one for all rows, and join_sums.
constexpr int kRowsAndJoin = 2;

const std::int32_t* labels(const Launch& launch) {
  return static_cast<const std::int32_t*>(launch.in(1));
}

}  // namespace

std::vector<Candidate> softmax_cross_entropy(Context& context, const Graph& graph, const Node& node,
                                             DataFormat /*format*/) {
  const auto attributes = node.attributes.as<SoftmaxCrossEntropyAttributes>();
  const Shape shape = graph.shape(node.inputs[0]);
  Candidate candidate = gpu_candidate(
      context, graph, node, {rows(), line()}, {scalar(), rows()},
      [attributes, shape](const Launch& launch) {
        softmax_cross_entropy_forward(launch.stream, {.label_smoothing = attributes.label_smoothing,
                                                      .weight = attributes.weight,
                                                      .rows = shape[0],
                                                      .classes = shape[1],
                                                      .logits = launch.floats_in(0),
                                                      .labels = labels(launch),
                                                      .probabilities = launch.floats_out(1),
                                                      .loss = launch.floats_out(0),
                                                      .workspace = launch.workspace});
      });
  candidate.workspace_bytes = row_workspace_bytes(shape[0]);
  candidate.launches = kRowsAndJoin;
  candidate.may_overwrite = {{.output = 1, .input = 0}};
  return {std::move(candidate)};
}

std::vector<Candidate> softmax_cross_entropy_backward(Context& context, const Graph& graph,
                                                      const Node& node, DataFormat /*format*/) {
  const auto attributes = node.attributes.as<SoftmaxCrossEntropyAttributes>();
  const Shape shape = graph.shape(node.inputs[0]);
  Candidate candidate =
      gpu_candidate(context, graph, node, {rows(), line(), scalar()}, {rows()},
                    [attributes, shape](const Launch& launch) {
                      softmax_cross_entropy_gradient(launch.stream,
                                                     {.label_smoothing = attributes.label_smoothing,
                                                      .weight = attributes.weight,
                                                      .rows = shape[0],
                                                      .classes = shape[1],
                                                      .probabilities = launch.floats_in(0),
                                                      .labels = labels(launch),
                                                      .dloss = launch.floats_in(2),
                                                      .dlogits = launch.floats_out(0)});
                    });
  candidate.may_overwrite = {{.output = 0, .input = 0}};
  return {std::move(candidate)};
}

std::vector<Candidate> l2_loss(Context& context, const Graph& graph, const Node& node,
                               DataFormat /*format*/) {
  const double coefficient = node.attributes.as<L2LossAttributes>().coefficient;
  std::vector<Floats> tensors;
  for (const ValueId input : node.inputs) {
    tensors.push_back({.count = graph.shape(input).elements()});
  }
  const std::size_t workspace_bytes = l2_loss_workspace_bytes(tensors);
  const int launches = l2_loss_launches(tensors);
  // The order of the elements does not matter.
  Candidate candidate =
      gpu_candidate(context, graph, node, std::vector<Layout>(tensors.size(), Layout::any()),
                    {scalar()}, [coefficient, tensors](const Launch& launch) mutable {
                      for (std::size_t i = 0; i < tensors.size(); ++i) {
                        tensors[i].data = launch.floats_in(static_cast<int>(i));
                      }
                      l2_loss_forward(launch.stream, {.coefficient = coefficient,
                                                      .tensors = tensors,
                                                      .loss = launch.floats_out(0),
                                                      .workspace = launch.workspace});
                    });
  candidate.workspace_bytes = workspace_bytes;
  candidate.launches = launches;
  return {std::move(candidate)};
}

std::vector<Candidate> l2_loss_backward(Context& context, const Graph& graph, const Node& node,
                                        DataFormat format) {
  const double coefficient = node.attributes.as<L2LossAttributes>().coefficient;
  const Shape& shape = graph.shape(node.inputs[0]);
  const std::int64_t count = shape.elements();
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
    Candidate candidate = gpu_candidate(
        context, graph, node, {layout, scalar()}, {layout},
        [coefficient, count](const Launch& launch) {
          l2_loss_gradient(launch.stream, {.coefficient = coefficient,
                                           .w = {.data = launch.floats_in(0), .count = count},
                                           .dloss = launch.floats_in(1),
                                           .dw = launch.floats_out(0)});
        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> top_k_accuracy(Context& context, const Graph& graph, const Node& node,
                                      DataFormat /*format*/) {
  const Shape shape = graph.shape(node.inputs[0]);
  const std::int64_t k = node.attributes.as<TopKAttributes>().k;
  Candidate candidate = gpu_candidate(context, graph, node, {rows(), line()}, {scalar()},
                                      [shape, k](const Launch& launch) {
                                        top_k_share(launch.stream, {.k = k,
                                                                    .rows = shape[0],
                                                                    .classes = shape[1],
                                                                    .logits = launch.floats_in(0),
                                                                    .labels = labels(launch),
                                                                    .share = launch.floats_out(0),
                                                                    .workspace = launch.workspace});
                                      });
  candidate.workspace_bytes = row_workspace_bytes(shape[0]);
  candidate.launches = kRowsAndJoin;
  return {std::move(candidate)};
}

}  // namespace bench::cuda
