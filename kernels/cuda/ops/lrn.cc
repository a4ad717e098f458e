#include "kernels/cuda/gpu/lrn.h"

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

std::vector<Candidate> lrn(Context& context, const Graph& graph, const Node& node,
                           DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_layout(plain_layouts(type.shape, format), [&](const Layout& layout) {
    const Lrn problem{
        .view = view_of(type.shape, layout), .attributes = attributes, .dtype = type.dtype};
    Candidate candidate =
        gpu_candidate(context, graph, node, {layout}, {layout}, [problem](const Launch& launch) {
          Lrn args = problem;
          args.x = launch.in(0);
          args.y = launch.out(0);
          lrn(launch.stream, args);
        });
    if (lrn_may_overwrite(problem.view)) {
      candidate.may_overwrite = {{.output = 0, .input = 0}};
    }
    return candidate;
  });
}

std::vector<Candidate> lrn_backward(Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const auto attributes = node.attributes.as<LrnAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_layout(plain_layouts(type.shape, format), [&](const Layout& layout) {
    const LrnBackward problem{
        .view = view_of(type.shape, layout), .attributes = attributes, .dtype = type.dtype};
    Candidate candidate = gpu_candidate(context, graph, node, {layout, layout}, {layout},
                                        [problem](const Launch& launch) {
                                          LrnBackward args = problem;
                                          args.dy = launch.in(0);
                                          args.x = launch.in(1);
                                          args.dx = launch.out(0);
                                          lrn_backward(launch.stream, args);
                                        });
    if (lrn_may_overwrite(problem.view)) {
      candidate.may_overwrite = {{.output = 0, .input = 0}, {.output = 0, .input = 1}};
    }
    return candidate;
  });
}

}  // namespace bench::cuda
