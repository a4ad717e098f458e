#include "models/ops/swap_axes.h"

#include <array>
#include <functional>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/reorder.h"
#include "kernels/cuda/gpu/swap_axes.h"

namespace bench::cuda {

std::vector<Candidate> swap_axes(Context& context, const Graph& graph, const Node& node,
                                 DataFormat /*format*/) {
  const TensorType& x = graph.type(node.inputs[0]);
  const auto [a, b, c] = std::array{x.shape[0], x.shape[1], x.shape[2]};
  std::function<void(const Launch&)> body;
  if (node.attributes.as<SwapAxesAttributes>().first == 0) {
    body = [a = a, b = b, c = c, dtype = x.dtype](const Launch& launch) {
      swap_rows(
          launch.stream,
          {.a = a, .b = b, .columns = c, .dtype = dtype, .x = launch.in(0), .y = launch.out(0)});
    };
  } else {
    const View view{.order = Order::nchw, .batch = a, .channels = b, .spatial = c};
    body = [view, dtype = x.dtype](const Launch& launch) {
      reorder(launch.stream, {.view = view,
                              .from = dtype,
                              .x = launch.in(0),
                              .order = Order::nhwc,
                              .to = dtype,
                              .y = launch.out(0)});
    };
  }
  return {gpu_candidate(context, graph, node, layouts_of(graph, node.inputs, nchw()),
                        layouts_of(graph, node.outputs, nchw()), std::move(body))};
}

}  // namespace bench::cuda
