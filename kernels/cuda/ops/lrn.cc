#include "kernels/cuda/gpu/lrn.h"

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

std::vector<Candidate> lrn(Context& context, const Graph& graph, const Node& node,
                           DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  std::vector<Candidate> candidates;
  for (const Layout& layout : activation_layouts(type.shape, format)) {
    const Lrn problem{
        .view = view_of(type.shape, layout), .attributes = attributes, .dtype = type.dtype};
    Candidate& candidate = candidates.emplace_back(
        gpu_candidate(context, graph, node, {layout}, {layout}, [problem](const Launch& launch) {
          Lrn args = problem;
          args.x = launch.in(0);
          args.y = launch.out(0);
          lrn(launch.stream, args);
        }));
    if (lrn_may_overwrite(problem.view)) {
      candidate.may_overwrite = {{.output = 0, .input = 0}};
    }
  }
  return candidates;
}

std::vector<Candidate> lrn_backward(Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  std::vector<Candidate> candidates;
  for (const Layout& layout : activation_layouts(type.shape, format)) {
    const LrnBackward problem{
        .view = view_of(type.shape, layout), .attributes = attributes, .dtype = type.dtype};
    Candidate& candidate = candidates.emplace_back(gpu_candidate(
        context, graph, node, {layout, layout}, {layout}, [problem](const Launch& launch) {
          LrnBackward args = problem;
          args.dy = launch.in(0);
          args.x = launch.in(1);
          args.dx = launch.out(0);
          lrn_backward(launch.stream, args);
        }));
    if (lrn_may_overwrite(problem.view)) {
      candidate.may_overwrite = {{.output = 0, .input = 0}, {.output = 0, .input = 1}};
    }
  }
  return candidates;
}

}  // namespace bench::cuda
