#include "models/ops/embedding.h"

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/embedding.h"

namespace bench::cuda {

std::vector<Candidate> embedding(Context& context, const Graph& graph, const Node& node,
                                 DataFormat /*format*/) {
  const TensorType& table = graph.type(node.inputs[0]);
  const Embedding problem{.rows = table.shape[0],
                          .columns = table.shape[1],
                          .count = graph.shape(node.inputs[1]).elements(),
                          .dtype = table.dtype};
  return {gpu_candidate(context, graph, node, layouts_of(graph, node.inputs, nchw()),
                        layouts_of(graph, node.outputs, nchw()), [problem](const Launch& launch) {
                          Embedding args = problem;
                          args.table = launch.in(0);
                          args.ids = static_cast<const std::int32_t*>(launch.in(1));
                          args.y = launch.out(0);
                          embedding(launch.stream, args);
                        })};
}

std::vector<Candidate> embedding_backward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat /*format*/) {
  const TensorType& dy = graph.type(node.inputs[0]);
  const EmbeddingBackward problem{.rows = node.attributes.as<EmbeddingBackwardAttributes>().rows,
                                  .columns = dy.shape[dy.shape.rank() - 1],
                                  .count = graph.shape(node.inputs[1]).elements(),
                                  .dtype = dy.dtype};
  Candidate candidate =
      gpu_candidate(context, graph, node, layouts_of(graph, node.inputs, nchw()),
                    layouts_of(graph, node.outputs, nchw()), [problem](const Launch& launch) {
                      EmbeddingBackward args = problem;
                      args.dy = launch.in(0);
                      args.ids = static_cast<const std::int32_t*>(launch.in(1));
                      args.dtable = launch.floats_out(0);
                      args.places = static_cast<int*>(launch.workspace);
                      embedding_backward(launch.stream, args);
                    });
  candidate.workspace_bytes = static_cast<std::size_t>(problem.rows) * sizeof(int);
  candidate.launches = kEmbeddingBackwardLaunches;
  return {candidate};
}

}  // namespace bench::cuda
