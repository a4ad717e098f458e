#include "models/ops/fully_connected.h"

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/ops/layers.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench::cuda {
namespace {

std::vector<Candidate> candidates_of(Context& context, const Graph& graph, const Node& node) {
  const ProductProblem problem = product_of(graph, node);
  std::vector<Candidate> candidates;
  double seconds = layer_seconds(context, work_of(graph, node),
                                 {.dtype = problem.dtype, .tensor_cores = is_half(problem.dtype)});
  for (ProductChoice& choice : context.products.choices(problem)) {
    Candidate candidate;
    candidate.implementation = std::move(choice.implementation);
    candidate.inputs = layouts_of(graph, node.inputs, nchw());
    candidate.outputs = layouts_of(graph, node.outputs, nchw());
    candidate.workspace_bytes = choice.workspace_bytes;
    candidate.deterministic = choice.deterministic;
    candidate.seconds = seconds;
    seconds *= 1 + kNextChoice;
    // The gradient of the weights is dy^T * x; otherwise the node's order is the product's.
    candidate.make = [bias = problem.bias, make = std::move(choice.make)] {
      const std::shared_ptr<ProductPlan> plan = make();
      return make_gpu_kernel([bias, plan](const Launch& launch) {
        plan->launch(launch.stream, {.a = launch.in(0),
                                     .b = launch.in(1),
                                     .c = launch.out(0),
                                     .bias = bias ? launch.floats_in(2) : nullptr,
                                     .workspace = launch.workspace});
      })();
    };
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace

ProductProblem product_of(const Graph& graph, const Node& node) {
  const TensorType& a = graph.type(node.inputs[0]);
  const TensorType& b = graph.type(node.inputs[1]);
  // Uses only the inputs: a hypothetical node has no outputs yet.
  ProductProblem problem{.dtype = a.dtype, .result = a.dtype};
  if (node.op == &kFullyConnected) {
    // y[N,O] = x[N,I] * w[O,I]^T.
    const Epilogue& epilogue = node.attributes.as<FullyConnectedAttributes>().epilogue;
    problem.rows = a.shape[0];
    problem.depth = a.shape[1];
    problem.columns = b.shape[0];
    problem.transposed_b = true;
    problem.bias = epilogue.bias;
    problem.relu = epilogue.activation == ActivationKind::relu;
  } else if (node.op == &kFullyConnectedBackwardData) {
    // dx[N,I] = dy[N,O] * w[O,I].
    problem.rows = a.shape[0];
    problem.depth = a.shape[1];
    problem.columns = b.shape[1];
  } else {
    // dw[O,I] = dy[N,O]^T * x[N,I].
    check(node.op == &kFullyConnectedBackwardWeights, "cuda: the node is not a matrix product");
    problem.result = accumulation_type(a.dtype);
    problem.rows = a.shape[1];
    problem.depth = b.shape[0];
    problem.columns = b.shape[1];
    problem.transposed_a = true;
  }
  return problem;
}

std::vector<Candidate> fully_connected(Context& context, const Graph& graph, const Node& node,
                                       DataFormat /*format*/) {
  return candidates_of(context, graph, node);
}

std::vector<Candidate> fully_connected_backward_data(Context& context, const Graph& graph,
                                                     const Node& node, DataFormat /*format*/) {
  return candidates_of(context, graph, node);
}

std::vector<Candidate> fully_connected_backward_weights(Context& context, const Graph& graph,
                                                        const Node& node, DataFormat /*format*/) {
  return candidates_of(context, graph, node);
}

}  // namespace bench::cuda
