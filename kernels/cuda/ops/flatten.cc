#include "models/ops/flatten.h"

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/reorder.h"

namespace bench::cuda {
namespace {

/// A candidate that rearranges the elements of a node into the order `to`, that of its output.
Candidate rearranged(const Context& context, const Graph& graph, const Node& node, const View& from,
                     Order to, const Layout& input, const Layout& output) {
  const DType dtype = graph.type(node.inputs[0]).dtype;
  Candidate candidate = gpu_candidate(context, graph, node, {input}, {output},
                                      [from, to, dtype](const Launch& launch) {
                                        reorder(launch.stream, {.view = from,
                                                                .from = dtype,
                                                                .x = launch.in(0),
                                                                .order = to,
                                                                .to = dtype,
                                                                .y = launch.out(0)});
                                      });
  if (from.order == to || from.channels == 1 || from.spatial == 1) {
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    candidate.idle_in_place = true;
  }
  return candidate;
}

}  // namespace

std::vector<Candidate> flatten(Context& context, const Graph& graph, const Node& node,
                               DataFormat format) {
  const Shape& images = graph.shape(node.inputs[0]);
  return per_layout(plain_layouts(images, format), [&](const Layout& layout) {
    return rearranged(context, graph, node, view_of(images, layout), Order::nchw, layout,
                      row_major(2));
  });
}

std::vector<Candidate> unflatten(Context& context, const Graph& graph, const Node& node,
                                 DataFormat format) {
  const Shape& images = graph.shape(node.outputs[0]);
  return per_layout(plain_layouts(images, format), [&](const Layout& layout) {
    return rearranged(context, graph, node, view_of(images, nchw()), view_of(images, layout).order,
                      row_major(2), layout);
  });
}

std::vector<Candidate> reshape(Context& context, const Graph& graph, const Node& node,
                               DataFormat /*format*/) {
  const View line{.channels = graph.shape(node.inputs[0]).elements()};
  return {rearranged(context, graph, node, line, line.order,
                     row_major(graph.shape(node.inputs[0]).rank()),
                     row_major(graph.shape(node.outputs[0]).rank()))};
}

}  // namespace bench::cuda
