#include "kernels/cuda/gpu/elementwise.h"

#include "kernels/cuda/device/context.h"

namespace bench::cuda {
namespace {

/// One candidate per layout, for a kernel that treats all elements alike in any order: body(launch,
/// number of elements).
template <class Body>
std::vector<Candidate> alike(Context& context, const Graph& graph, const Node& node,
                             DataFormat format, const Body& body) {
  const Shape& shape = graph.shape(node.outputs[0]);
  return per_layout(plain_layouts(shape, format), [&](const Layout& layout) {
    Candidate candidate = gpu_candidate(
        context, graph, node, std::vector<Layout>(node.inputs.size(), layout), {layout},
        [count = shape.elements(), body](const Launch& launch) { body(launch, count); });
    candidate.may_overwrite = overwrites_of_alike(graph, node);
    return candidate;
  });
}

/// The output is a copy of input 0.
std::vector<Candidate> copies_of_first(Context& context, const Graph& graph, const Node& node,
                                       DataFormat format) {
  auto candidates =
      alike(context, graph, node, format, [](const Launch& launch, std::int64_t /*count*/) {
        copy(launch.stream,
             {.bytes = launch.inputs[0].bytes, .x = launch.in(0), .y = launch.out(0)});
      });
  for (Candidate& candidate : candidates) {
    candidate.idle_in_place = true;
  }
  return candidates;
}

/// The same for a function of two tensors: body(launch, its arguments).
template <class Body>
std::vector<Candidate> pairwise(Context& context, const Graph& graph, const Node& node,
                                DataFormat format, const Body& body) {
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return alike(context, graph, node, format,
               [body, dtype](const Launch& launch, std::int64_t count) {
                 body(launch, {.dtype = dtype,
                               .count = count,
                               .a = launch.in(0),
                               .b = launch.in(1),
                               .y = launch.out(0)});
               });
}

}  // namespace

std::vector<Candidate> activation(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const ActivationKind kind = node.attributes.as<ActivationAttributes>().kind;
  if (kind == ActivationKind::none) {
    return copies_of_first(context, graph, node, format);
  }
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return alike(
      context, graph, node, format, [kind, dtype](const Launch& launch, std::int64_t count) {
        activation(
            launch.stream,
            {.kind = kind, .dtype = dtype, .count = count, .x = launch.in(0), .y = launch.out(0)});
      });
}

std::vector<Candidate> activation_backward(Context& context, const Graph& graph, const Node& node,
                                           DataFormat format) {
  const ActivationKind kind = node.attributes.as<ActivationAttributes>().kind;
  if (kind == ActivationKind::none) {
    return copies_of_first(context, graph, node, format);
  }
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return alike(context, graph, node, format,
               [kind, dtype](const Launch& launch, std::int64_t count) {
                 activation_backward(launch.stream, {.kind = kind,
                                                     .dtype = dtype,
                                                     .count = count,
                                                     .dy = launch.in(0),
                                                     .v = launch.in(1),
                                                     .dx = launch.out(0)});
               });
}

std::vector<Candidate> add(Context& context, const Graph& graph, const Node& node,
                           DataFormat format) {
  return pairwise(context, graph, node, format,
                  [](const Launch& launch, const Binary& args) { cuda::add(launch.stream, args); });
}

std::vector<Candidate> multiply(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  return pairwise(context, graph, node, format, [](const Launch& launch, const Binary& args) {
    cuda::multiply(launch.stream, args);
  });
}

std::vector<Candidate> cast(Context& context, const Graph& graph, const Node& node,
                            DataFormat format) {
  const DType from = graph.type(node.inputs[0]).dtype;
  const DType to = graph.type(node.outputs[0]).dtype;
  const auto known = [](DType dtype) { return dtype == DType::f32 || is_half(dtype); };
  if (!known(from) || !known(to)) {
    return {};
  }
  return alike(context, graph, node, format, [from, to](const Launch& launch, std::int64_t count) {
    cast(launch.stream,
         {.count = count, .from = from, .x = launch.in(0), .to = to, .y = launch.out(0)});
  });
}

}  // namespace bench::cuda
