#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/plane_scale.h"
#include "kernels/cuda/gpu/plane_sums.h"

namespace bench::cuda {

std::vector<Candidate> channel_scale(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    // Images of one pixel have the same memory in every layout.
    Candidate candidate = gpu_candidate(context, graph, node, {layout, Layout::any()}, {layout},
                                        [view, dtype = type.dtype](const Launch& launch) {
                                          plane_scale(launch.stream, {.view = view,
                                                                      .dtype = dtype,
                                                                      .x = launch.in(0),
                                                                      .scales = launch.in(1),
                                                                      .y = launch.out(0)});
                                        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> channel_scale_backward(Context& context, const Graph& graph,
                                              const Node& node, DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    return gpu_candidate(context, graph, node, {layout, layout}, {layout},
                         [view, dtype = type.dtype](const Launch& launch) {
                           plane_sums(launch.stream, {.view = view,
                                                      .dtype = dtype,
                                                      .a = launch.in(0),
                                                      .b = launch.in(1),
                                                      .sums = launch.out(0)});
                         });
  });
}

}  // namespace bench::cuda
