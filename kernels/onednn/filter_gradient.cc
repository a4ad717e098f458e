#include "kernels/onednn/filter_gradient.h"

#include "kernels/cpu/bias.h"
#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/filter_gradient.h"
#include "kernels/onednn/vector_kernel.h"
#include "kernels/runtime/memory_plan.h"
#include "models/ops/conv2d.h"

namespace bench::onednn {
namespace {

constexpr int kBlock = 16;

/// Of the time of oneDNN's kernels, 3.2 on Zen 4: 0.70 to 0.95 in f32.
constexpr double kFactor = 0.9;

bool has_instructions(DType dtype) {
  // With AMX oneDNN's own are several times faster in bf16.
  return dtype == DType::f32 ||
         (has_isa(dnnl::cpu_isa::avx512_core_bf16) && !has_isa(dnnl::cpu_isa::avx512_core_amx));
}

std::optional<cpu::FilterGradientPlan> plan_of(const Context& context, const Graph& graph,
                                               const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Window& window = attributes.window;
  const Shape& x = graph.shape(node.inputs[1]);
  const Shape& y = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  const bool known = context.block == kBlock && has_instructions(dtype) && attributes.groups == 1 &&
                     x[1] % kBlock == 0 && y[1] % kBlock == 0 &&
                     window.kernel == std::array<std::int64_t, 2>{3, 3} &&
                     window.dilation == std::array<std::int64_t, 2>{1, 1} &&
                     window.stride[0] == window.stride[1];
  if (!known) {
    return std::nullopt;
  }
  return cpu::plan_filter_gradient({.batch = x[0],
                                    .in_blocks = x[1] / kBlock,
                                    .height = x[2],
                                    .width = x[3],
                                    .out_blocks = y[1] / kBlock,
                                    .out_height = y[2],
                                    .out_width = y[3],
                                    .stride = window.stride[0],
                                    .pad_top = window.pad_before[0],
                                    .pad_left = window.pad_before[1]},
                                   dtype, context.team.size());
}

}  // namespace

std::optional<Candidate> blocked_filter_gradient(Context& context, const Graph& graph,
                                                 const Node& node) {
  const auto plan = plan_of(context, graph, node);
  if (!plan) {
    return std::nullopt;
  }
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Shape& w = attributes.weights;
  const Shape& y = graph.shape(node.inputs[0]);
  const Layout blocked = LayoutTable::blocked(kBlock);
  const std::size_t gradient_bytes = align_up(plan->workspace_bytes);
  Candidate candidate;
  candidate.implementation = "filter_gradient:avx512";
  candidate.inputs = {blocked, blocked};
  candidate.outputs = {context.layouts.remember(
      {.dtype = DType::f32, .shape = w},
      {dims(w), data_type(DType::f32), dnnl::memory::format_tag::OIhw16i16o})};
  candidate.workspace_bytes = gradient_bytes;
  candidate.seconds = kFactor * compute_seconds(context, w[1] * w[2] * w[3] * y.elements(),
                                                candidate.implementation, blocked);
  cpu::BiasBackward bias{.view = channel_view(context, y, blocked), .dtype = plan->dtype};
  if (attributes.bias) {
    candidate.outputs.push_back(LayoutTable::canonical(1));
    candidate.workspace_bytes += cpu::channel_workspace_bytes(bias.view, context.team.size());
  }
  candidate.make = make_vector_kernel(context, [plan = *plan, bias, with_bias = attributes.bias,
                                                gradient_bytes](const Launch& launch) mutable {
    cpu::filter_gradient(launch.team, plan, launch.in(1), launch.in(0), launch.floats_out(0),
                         launch.workspace);
    if (with_bias) {
      bias.dy = launch.in(0);
      bias.dbias = launch.floats_out(1);
      bias.workspace = static_cast<std::byte*>(launch.workspace) + gradient_bytes;
      cpu::bias_backward(launch.team, bias);
    }
  });
  return candidate;
}

}  // namespace bench::onednn
