#include "kernels/onednn/filter_gradient.h"

#include <algorithm>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/bias.h"
#include "kernels/cpu/filter_gradient.h"
#include "kernels/onednn/isa.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"

namespace bench::onednn {
namespace {

constexpr int kBlock = 16;

/// Of the time of oneDNN's kernels: 0.65 to 0.99 over the layers of ResNet-50 and VGG-16 in f32,
/// oneDNN 3.2, Zen 4.
constexpr double kFactor = 0.9;

using Square = std::array<std::int64_t, 2>;

/// The instructions the kernel needs; null where it is not to be used.
const char* instructions(DType dtype) {
  if (dtype == DType::f32 && has_isa(dnnl::cpu_isa::avx512_core)) {
    return "avx512_core";
  }
  // Where there is AMX, oneDNN multiplies bf16 in its tiles.
  if (dtype == DType::bf16 && has_isa(dnnl::cpu_isa::avx512_core_bf16) &&
      !has_isa(dnnl::cpu_isa::avx512_core_amx)) {
    return "avx512_core_bf16";
  }
  return nullptr;
}

std::optional<cpu::FilterGradientPlan> plan_of(const Conv2dBackwardWeightsAttributes& attributes,
                                               const Shape& x, const Shape& y, DType dtype,
                                               int threads) {
  const Window& window = attributes.window;
  if (attributes.groups != 1 || x[1] % kBlock != 0 || y[1] % kBlock != 0 ||
      window.kernel != Square{3, 3} || window.dilation != Square{1, 1} ||
      window.stride[0] != window.stride[1]) {
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
                                   dtype, threads);
}

}  // namespace

std::optional<Candidate> blocked_filter_gradient(Context& context, const Graph& graph,
                                                 const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const DType dtype = graph.type(node.inputs[0]).dtype;
  const Shape& y = graph.shape(node.inputs[0]);
  const char* const isa = instructions(dtype);
  if (isa == nullptr) {
    return std::nullopt;
  }
  const auto plan = plan_of(attributes, graph.shape(node.inputs[1]), y, dtype, context.team.size());
  if (!plan) {
    return std::nullopt;
  }
  const Layout blocked = LayoutTable::blocked(kBlock);
  const Shape& w = attributes.weights;
  Candidate candidate;
  candidate.implementation = cat("filter_gradient:", isa);
  candidate.inputs = {blocked, blocked};
  candidate.outputs = {context.layouts.remember(
      {.dtype = DType::f32, .shape = w},
      {dims(w), data_type(DType::f32), dnnl::memory::format_tag::OIhw16i16o})};
  candidate.workspace_bytes = plan->workspace_bytes;
  candidate.seconds = kFactor * plan->excess *
                      compute_seconds(context, work_of(graph, node).multiply_adds,
                                      candidate.implementation, blocked);
  const cpu::ChannelView dy = channel_view(context, y, blocked);
  if (attributes.bias) {
    // A pass of its own, behind the other: they share the workspace.
    candidate.outputs.push_back(LayoutTable::canonical(1));
    candidate.workspace_bytes =
        std::max(candidate.workspace_bytes, cpu::channel_workspace_bytes(dy, context.team.size()));
    candidate.seconds +=
        memory_seconds(context, y.elements() * static_cast<std::int64_t>(size_of(dtype)));
  }
  candidate.make =
      make_vector_kernel(context, [plan = *plan, dy, bias = attributes.bias](const Launch& launch) {
        cpu::filter_gradient(launch.team, {.plan = plan,
                                           .x = launch.in(1),
                                           .dy = launch.in(0),
                                           .dw = launch.floats_out(0),
                                           .workspace = launch.workspace});
        if (bias) {
          cpu::bias_backward(launch.team, {.view = dy,
                                           .dtype = plan.dtype,
                                           .dy = launch.in(0),
                                           .dbias = launch.floats_out(1),
                                           .workspace = launch.workspace});
        }
      });
  return candidate;
}

}  // namespace bench::onednn
