#include "kernels/cpu/elementwise.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/activation.h"
#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/bias.h"
#include "kernels/cpu/cast.h"
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/spatial_mean.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/activation.h"
#include "models/ops/dropout.h"
#include "models/ops/moving_average.h"

namespace bench::onednn {
namespace {

/// One candidate per layout, for a kernel that treats all elements alike, whatever their order:
/// body(launch, number of elements).
template <class Body>
std::vector<Candidate> alike(Context& context, const Graph& graph, const Node& node,
                             DataFormat format, const Body& body) {
  const TensorType& type = graph.type(node.outputs[0]);
  return per_layout(activation_layouts(context, type, format), [&](const Layout& layout) {
    const auto count = static_cast<std::int64_t>(context.layouts.desc(type, layout).get_size() /
                                                 size_of(type.dtype));
    Candidate candidate =
        vector_candidate(context, graph, node, std::vector<Layout>(node.inputs.size(), layout),
                         {layout}, [count, body](const Launch& launch) { body(launch, count); });
    candidate.may_overwrite = overwrites_of_alike(graph, node);
    return candidate;
  });
}

/// True if the elements have the same order in NCHW and in NHWC.
bool same_in_nchw_and_nhwc(const Shape& shape) {
  return shape.rank() != 4 || shape[2] * shape[3] == 1;
}

/// Copies input 0 unchanged.
void copy(const Launch& launch) {
  if (launch.out(0) != launch.in(0)) {
    std::memcpy(launch.out(0), launch.in(0), launch.inputs[0].bytes);
  }
}

/// The layout of means of planes: a matrix, or images of one pixel, which is the same in memory.
Layout layout_of_means(const Shape& means, const Layout& images) {
  return means.rank() == 2 ? row_major(2) : images;
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
    return alike(context, graph, node, format,
                 [](const Launch& launch, std::int64_t /*count*/) { copy(launch); });
  }
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return alike(
      context, graph, node, format, [kind, dtype](const Launch& launch, std::int64_t count) {
        cpu::activation(
            launch.team,
            {.kind = kind, .dtype = dtype, .count = count, .x = launch.in(0), .y = launch.out(0)});
      });
}

std::vector<Candidate> activation_backward(Context& context, const Graph& graph, const Node& node,
                                           DataFormat format) {
  const ActivationKind kind = node.attributes.as<ActivationAttributes>().kind;
  if (kind == ActivationKind::none) {
    return alike(context, graph, node, format,
                 [](const Launch& launch, std::int64_t /*count*/) { copy(launch); });
  }
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return alike(context, graph, node, format,
               [kind, dtype](const Launch& launch, std::int64_t count) {
                 cpu::activation_backward(launch.team, {.kind = kind,
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
                  [](const Launch& launch, const Binary& args) { cpu::add(launch.team, args); });
}

std::vector<Candidate> multiply(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  return pairwise(context, graph, node, format, [](const Launch& launch, const Binary& args) {
    cpu::multiply(launch.team, args);
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
    cpu::cast(launch.team,
              {.count = count, .from = from, .x = launch.in(0), .to = to, .y = launch.out(0)});
  });
}

std::vector<Candidate> moving_average(Context& context, const Graph& graph, const Node& node,
                                      DataFormat /*format*/) {
  std::vector<MovingAverage> averages;
  for (const Averaging& pair : node.attributes.as<MovingAverageAttributes>().pairs) {
    const Shape& shape = graph.shape(node.outputs[averages.size()]);
    averages.push_back({.count = shape.elements(), .decay = pair.decay, .factor = pair.factor});
  }
  Candidate candidate = vector_candidate(
      context, graph, node, layouts_of(graph, node.inputs, nchw()),
      layouts_of(graph, node.outputs, nchw()), [averages](const Launch& launch) mutable {
        for (int i = 0; i < static_cast<int>(averages.size()); ++i) {
          MovingAverage& average = averages[static_cast<std::size_t>(i)];
          average.running = launch.floats_in(2 * i);
          average.batch = launch.floats_in(2 * i + 1);
          average.y = launch.floats_out(i);
        }
        cpu::moving_averages(launch.team, averages);
      });
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    candidate.may_overwrite.push_back({.output = i, .input = 2 * i});
  }
  return {candidate};
}

std::vector<Candidate> bias_add(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate =
        vector_candidate(context, graph, node, {layout, row_major(1)}, {layout},
                         [view, dtype = type.dtype](const Launch& launch) {
                           cpu::bias_add(launch.team, {.view = view,
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
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate =
        vector_candidate(context, graph, node, {layout}, {row_major(1)},
                         [view, dtype = type.dtype](const Launch& launch) {
                           cpu::bias_backward(launch.team, {.view = view,
                                                            .dtype = dtype,
                                                            .dy = launch.in(0),
                                                            .dbias = launch.floats_out(0),
                                                            .workspace = launch.workspace});
                         });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    return candidate;
  });
}

std::vector<Candidate> spatial_mean(Context& context, const Graph& graph, const Node& node,
                                    DataFormat format) {
  const TensorType& type = graph.type(node.inputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, {layout}, {layout_of_means(graph.shape(node.outputs[0]), layout)},
        [view, dtype = type.dtype](const Launch& launch) {
          cpu::spatial_mean(launch.team, {.view = view,
                                          .dtype = dtype,
                                          .x = launch.in(0),
                                          .y = launch.out(0),
                                          .workspace = launch.workspace});
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    return candidate;
  });
}

std::vector<Candidate> spatial_mean_backward(Context& context, const Graph& graph, const Node& node,
                                             DataFormat format) {
  const TensorType& type = graph.type(node.outputs[0]);
  return per_view(context, type, format, [&](const Layout& layout, const cpu::ChannelView& view) {
    Candidate candidate = vector_candidate(
        context, graph, node, {layout_of_means(graph.shape(node.inputs[0]), layout)}, {layout},
        [view, dtype = type.dtype](const Launch& launch) {
          cpu::spatial_mean_backward(launch.team, {.view = view,
                                                   .dtype = dtype,
                                                   .dy = launch.in(0),
                                                   .dx = launch.out(0),
                                                   .workspace = launch.workspace});
        });
    candidate.workspace_bytes = cpu::channel_workspace_bytes(view, context.team.size());
    return candidate;
  });
}

std::vector<Candidate> flatten(Context& context, const Graph& graph, const Node& node,
                               DataFormat format) {
  const Shape& from = graph.shape(node.inputs[0]);
  const Shape& to = graph.shape(node.outputs[0]);
  std::vector<Layout> layouts{nchw()};
  if (format != DataFormat::nchw && (from.rank() == 4 || to.rank() == 4) &&
      same_in_nchw_and_nhwc(from) && same_in_nchw_and_nhwc(to)) {
    layouts.push_back(nhwc());
  }
  return per_layout(layouts, [&](const Layout& layout) {
    Candidate candidate =
        vector_candidate(context, graph, node, layouts_of(graph, node.inputs, layout),
                         layouts_of(graph, node.outputs, layout), copy);
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    candidate.idle_in_place = true;
    return candidate;
  });
}

std::vector<Candidate> unflatten(Context& context, const Graph& graph, const Node& node,
                                 DataFormat format) {
  return flatten(context, graph, node, format);
}

std::vector<Candidate> reshape(Context& context, const Graph& graph, const Node& node,
                               DataFormat format) {
  return flatten(context, graph, node, format);
}

std::vector<Candidate> dropout(Context& context, const Graph& graph, const Node& node,
                               DataFormat format) {
  const auto attributes = node.attributes.as<DropoutAttributes>();
  const TensorType& type = graph.type(node.inputs[0]);
  return per_layout(activation_layouts(context, type, format), [&](const Layout& layout) {
    // Any other rank is contiguous in canonical order.
    const cpu::ChannelView view =
        type.shape.rank() == 4 ? channel_view(context, type.shape, layout)
                               : cpu::ChannelView{.batch = 1, .channels = type.shape.elements()};
    Candidate candidate = vector_candidate(
        context, graph, node, {layout, row_major(0)}, {layout},
        [attributes, view, dtype = type.dtype](const Launch& launch) {
          cpu::dropout(launch.team, {.attributes = attributes,
                                     .step = *launch.inputs[1].as<const std::int32_t>(),
                                     .view = view,
                                     .dtype = dtype,
                                     .x = launch.in(0),
                                     .y = launch.out(0)});
        });
    candidate.may_overwrite = {{.output = 0, .input = 0}};
    return candidate;
  });
}

std::vector<Candidate> dropout_backward(Context& context, const Graph& graph, const Node& node,
                                        DataFormat format) {
  return dropout(context, graph, node, format);
}

}  // namespace bench::onednn
