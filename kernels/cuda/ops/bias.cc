#include "kernels/cuda/gpu/bias.h"

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

std::vector<Candidate> bias_add(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    Candidate candidate = gpu_candidate(context, graph, node, {layout, row_major(1)}, {layout},
                                        [view, dtype = type.dtype](const Launch& launch) {
                                          bias_add(launch.stream, {.view = view,
                                                                   .dtype = dtype,
                                                                   .x = launch.in(0),
                                                                   .bias = launch.floats_in(1),
                                                                   .y = launch.out(0)});
                                        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> bias_backward(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(type.shape, format, [&](const Layout& layout, const View& view) {
    Candidate candidate =
        gpu_candidate(context, graph, node, {layout}, {row_major(1)},
                      [view, dtype = type.dtype](const Launch& launch) {
                        bias_backward(launch.stream, {.view = view,
                                                      .dtype = dtype,
                                                      .dy = launch.in(0),
                                                      .dbias = launch.floats_out(0),
                                                      .workspace = launch.workspace});
                      });
    candidate.workspace_bytes = bias_backward_workspace_bytes(view, type.dtype);
    candidate.launches = 2;  // One sums, one joins the sums.
    return candidate;
  });
}

}  // namespace bench::cuda
