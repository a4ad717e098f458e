#include "models/ops/pool.h"

#include "kernels/candidates.h"
#include "kernels/cpu/quantized_pool.h"
#include "kernels/onednn/makers.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/quantized.h"

namespace bench::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Desc = dnnl::memory::desc;
using From = Argument::From;

dnnl::memory::dims pair(const std::array<std::int64_t, 2>& values) {
  return {values.begin(), values.end()};
}

/// One pooling, forward or backward, in one layout of its activations.
struct Pooling {
  Layout layout;
  Desc x;
  Desc y;
  dnnl::pooling_forward::primitive_desc forward;
};

/// `y` is the value with the pooling's output, or its gradient.
std::vector<Pooling> poolings(Context& context, const Graph& graph, const Node& node, ValueId y,
                              DataFormat format, algorithm kind, prop_kind propagation) {
  const auto& attributes = node.attributes.as<PoolAttributes>();
  const Window& window = attributes.window;
  const DType dtype = graph.type(y).dtype;
  std::vector<Pooling> result;
  const TensorType x{.dtype = dtype, .shape = attributes.input};
  for (const Layout& layout : activation_layouts(context, x, format)) {
    Pooling pooling;
    pooling.layout = layout;
    pooling.x = context.layouts.desc(x, layout);
    pooling.y = context.layouts.desc(graph.type(y), layout);
    pooling.forward = {context.engine,
                       propagation,
                       kind,
                       pooling.x,
                       pooling.y,
                       pair(window.stride),
                       pair(window.kernel),
                       {window.dilation[0] - 1, window.dilation[1] - 1},
                       pair(window.pad_before),
                       pair(window.pad_after),
                       base_attributes(),
                       /*allow_empty=*/true};
    if (pooling.forward) {
      result.push_back(pooling);
    }
  }
  return result;
}

double seconds(const Context& context, const Pooling& pooling, const char* implementation) {
  const auto bytes = static_cast<std::int64_t>(pooling.x.get_size() + pooling.y.get_size());
  // A reference implementation is too slow to be memory-bound.
  return memory_seconds(context, bytes) * (is_reference(implementation) ? 30 : 1);
}

/// Our kernel for quanta in nhwc.
Candidate quantized(Context& context, const Graph& graph, const Node& node, algorithm kind) {
  const TensorType& x = graph.type(node.inputs[0]);
  const bool is_max = kind == algorithm::pooling_max;
  const cpu::QuantizedPool pool{.kind = is_max ? cpu::PoolKind::max : cpu::PoolKind::mean,
                                .dtype = x.dtype,
                                .window = node.attributes.as<PoolAttributes>().window,
                                .x_shape = x.shape};
  Candidate candidate =
      vector_candidate(context, graph, node, {nhwc()}, {nhwc()}, [pool](const Launch& launch) {
        cpu::QuantizedPool args = pool;
        args.x = launch.in(0);
        args.y = launch.out(0);
        cpu::quantized_pool(launch.team, args);
      });
  if (is_max) {
    candidate.outputs.emplace_back("no indices");
  }
  return candidate;
}

std::vector<Candidate> forward(Context& context, const Graph& graph, const Node& node,
                               DataFormat format, algorithm kind) {
  const bool has_indices = kind == algorithm::pooling_max && is_read(graph, node.outputs[1]);
  if (is_quantized(graph.type(node.inputs[0]).dtype) && !has_indices &&
      cpu::pools_quanta(node.attributes.as<PoolAttributes>().window)) {
    return {quantized(context, graph, node, kind)};
  }
  std::vector<Candidate> candidates;
  for (const Pooling& pooling :
       poolings(context, graph, node, node.outputs[0], format, kind,
                has_indices ? prop_kind::forward_training : prop_kind::forward_inference)) {
    const auto& desc = pooling.forward;
    Candidate candidate;
    candidate.implementation = desc.impl_info_str();
    candidate.inputs = {pooling.layout};
    candidate.outputs = {pooling.layout};
    candidate.opaque_bytes = {0};
    std::vector<Argument> arguments;
    arguments.push_back({DNNL_ARG_SRC, pooling.x, From::input, 0});
    arguments.push_back({DNNL_ARG_DST, pooling.y, From::output, 0});
    if (kind == algorithm::pooling_max && !has_indices) {
      candidate.outputs.emplace_back("no indices");
      candidate.opaque_bytes.push_back(0);
    } else if (has_indices) {
      candidate.outputs.emplace_back(fmt::format("indices of {}", pooling.layout.token()));
      candidate.opaque_bytes.push_back(desc.workspace_desc().get_size());
      arguments.push_back({DNNL_ARG_WORKSPACE, desc.workspace_desc(), From::output, 1});
    }
    candidate.workspace_bytes = desc.scratchpad_desc().get_size();
    candidate.seconds = seconds(context, pooling, desc.impl_info_str());
    candidate.make = make_primitive(context.engine, desc, std::move(arguments));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<Candidate> backward(Context& context, const Graph& graph, const Node& node,
                                DataFormat format, algorithm kind) {
  const auto& attributes = node.attributes.as<PoolAttributes>();
  const Window& window = attributes.window;
  std::vector<Candidate> candidates;
  for (const Pooling& pooling :
       poolings(context, graph, node, node.inputs[0], format, kind, prop_kind::forward_training)) {
    const dnnl::pooling_backward::primitive_desc desc(
        context.engine, kind, pooling.x, pooling.y, pair(window.stride), pair(window.kernel),
        {window.dilation[0] - 1, window.dilation[1] - 1}, pair(window.pad_before),
        pair(window.pad_after), pooling.forward, base_attributes(), /*allow_empty=*/true);
    if (!desc) {
      continue;
    }
    Candidate candidate;
    candidate.implementation = desc.impl_info_str();
    candidate.inputs = {pooling.layout};
    candidate.outputs = {pooling.layout};
    std::vector<Argument> arguments;
    arguments.push_back({DNNL_ARG_DIFF_DST, pooling.y, From::input, 0});
    arguments.push_back({DNNL_ARG_DIFF_SRC, pooling.x, From::output, 0});
    if (kind == algorithm::pooling_max) {
      candidate.inputs.emplace_back(fmt::format("indices of {}", pooling.layout.token()));
      arguments.push_back({DNNL_ARG_WORKSPACE, pooling.forward.workspace_desc(), From::input, 1});
    }
    candidate.workspace_bytes = desc.scratchpad_desc().get_size();
    candidate.seconds = seconds(context, pooling, desc.impl_info_str());
    candidate.make = make_primitive(context.engine, desc, std::move(arguments));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

/// Returns true if each window is a whole plane. In this case oneDNN adds its elements one by one
/// in f32, and every element of the plane has the same error of the sum. Gradients of
/// squeeze-and-excite had six times the error.
bool averages_planes(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<PoolAttributes>();
  const Window& window = attributes.window;
  const std::array<std::int64_t, 2> none{};
  const std::array<std::int64_t, 2> plane{attributes.input[2], attributes.input[3]};
  const DType dtype = graph.type(node.inputs[0]).dtype;
  return (dtype == DType::f32 || is_half(dtype)) && window.kernel == plane &&
         window.pad_before == none && window.pad_after == none;
}

}  // namespace

std::vector<Candidate> max_pool(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  return forward(context, graph, node, format, algorithm::pooling_max);
}

std::vector<Candidate> max_pool_backward(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  return backward(context, graph, node, format, algorithm::pooling_max);
}

std::vector<Candidate> avg_pool(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  return averages_planes(graph, node)
             ? spatial_mean(context, graph, node, format)
             : forward(context, graph, node, format, algorithm::pooling_avg_exclude_padding);
}

std::vector<Candidate> avg_pool_backward(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  return averages_planes(graph, node)
             ? spatial_mean_backward(context, graph, node, format)
             : backward(context, graph, node, format, algorithm::pooling_avg_exclude_padding);
}

}  // namespace bench::onednn
