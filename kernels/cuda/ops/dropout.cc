#include "models/ops/dropout.h"

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/random.h"

namespace bench::cuda {

std::vector<Candidate> dropout(Context& context, const Graph& graph, const Node& node,
                               DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_layout(plain_layouts(type.shape, format), [&](const Layout& layout) {
    // Any other rank is one line in canonical order.
    const View view = type.shape.rank() == 4 ? view_of(type.shape, layout)
                                             : View{.channels = type.shape.elements()};
    const Dropout problem{
        .attributes = node.attributes.as<DropoutAttributes>(), .view = view, .dtype = type.dtype};
    Candidate candidate = gpu_candidate(
        context, graph, node, {layout, row_major(0)}, {layout}, [problem](const Launch& launch) {
          Dropout args = problem;
          args.step = static_cast<const std::int32_t*>(launch.in(1));
          args.x = launch.in(0);
          args.y = launch.out(0);
          dropout(launch.stream, args);
        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> dropout_backward(Context& context, const Graph& graph, const Node& node,
                                        DataFormat format) {
  return dropout(context, graph, node, format);
}

std::vector<Candidate> drop_path(Context& context, const Graph& graph, const Node& node,
                                 DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  const DropPath problem{.attributes = node.attributes.as<DropPathAttributes>(),
                         .examples = type.shape[0],
                         .elements = type.shape.elements() / type.shape[0],
                         .dtype = type.dtype};
  return per_layout(plain_layouts(type.shape, format), [&](const Layout& layout) {
    Candidate candidate = gpu_candidate(
        context, graph, node, {layout, row_major(0)}, {layout}, [problem](const Launch& launch) {
          DropPath args = problem;
          args.step = static_cast<const std::int32_t*>(launch.in(1));
          args.x = launch.in(0);
          args.y = launch.out(0);
          drop_path(launch.stream, args);
        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

}  // namespace bench::cuda
