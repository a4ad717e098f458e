#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/plane_scale.h"
#include "kernels/cuda/gpu/plane_sums.h"

namespace bench::cuda {
namespace {

double one_pixels_share(const View& view) { return 1.0 / static_cast<double>(view.spatial); }

}  // namespace

std::vector<Candidate> spatial_mean(Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    return gpu_candidate(context, graph, node, {layout}, layouts_of(graph, node.outputs, layout),
                         [view, dtype = type.dtype](const Launch& launch) {
                           plane_sums(launch.stream, {.view = view,
                                                      .dtype = dtype,
                                                      .a = launch.in(0),
                                                      .factor = one_pixels_share(view),
                                                      .sums = launch.out(0)});
                         });
  });
}

std::vector<Candidate> spatial_mean_backward(Context& context, const Graph& graph, const Node& node,
                                             DataFormat format) {
  const TensorType& type = graph.type(node.outputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    return gpu_candidate(context, graph, node, layouts_of(graph, node.inputs, layout), {layout},
                         [view, dtype = type.dtype](const Launch& launch) {
                           plane_scale(launch.stream, {.view = view,
                                                       .dtype = dtype,
                                                       .scales = launch.in(0),
                                                       .factor = one_pixels_share(view),
                                                       .y = launch.out(0)});
                         });
  });
}

}  // namespace bench::cuda
