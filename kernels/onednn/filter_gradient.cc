#include "kernels/onednn/filter_gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/bias.h"
#include "kernels/cpu/depthwise_gradient.h"
#include "kernels/cpu/filter_gradient.h"
#include "kernels/onednn/isa.h"
#include "kernels/onednn/vector_kernel.h"
#include "kernels/onednn/winograd.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"

namespace bench::onednn {
namespace {

constexpr int kBlock = 16;

/// Time relative to oneDNN's kernels: 0.65 to 0.99 over the layers of ResNet-50 and VGG-16 in f32,
/// oneDNN 3.2, Zen 4.
constexpr double kFactor = 0.9;

/// Time relative to oneDNN's kernels: 0.26 to 0.81 in f32 and 0.05 to 0.46 in bf16. Measured over
/// the 5x5 and 7x7 filters of MobileNet v3, EfficientNet and NASNet, oneDNN 3.2, Zen 4.
constexpr double kDepthwiseFactor = 0.6;
constexpr double kDepthwiseHalfFactor = 0.3;
/// Up to this size oneDNN has a kernel for depthwise filters; larger ones use its kernel for any
/// groups.
constexpr std::int64_t kDepthwiseTaps = 9;

using Square = std::array<std::int64_t, 2>;

/// The instructions that the kernel needs; null if it must not be used.
const char* instructions(DType dtype) {
  if (dtype == DType::f32 && has_isa(dnnl::cpu_isa::avx512_core)) {
    return "avx512_core";
  }
  // With AMX, oneDNN multiplies bf16 in its tiles.
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

std::optional<Candidate> blocked_3x3(Context& context, const Graph& graph, const Node& node) {
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
  candidate.implementation = fmt::format("filter_gradient:{}", isa);
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
    add_bias_gradient(context, dy, dtype, candidate);
  }
  candidate.make =
      make_vector_kernel(context, [plan = *plan, dy, bias = attributes.bias](const Launch& launch) {
        cpu::filter_gradient(launch.team, {.plan = plan,
                                           .x = launch.in(1),
                                           .dy = launch.in(0),
                                           .dw = launch.floats_out(0),
                                           .workspace = launch.workspace});
        if (bias) {
          launch_bias_gradient(launch, dy, plan.dtype);
        }
      });
  return candidate;
}

/// A depthwise convolution over nhwc or blocks.
std::optional<Candidate> depthwise(Context& context, const Graph& graph, const Node& node,
                                   const Layout& layout) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Shape& x = graph.shape(node.inputs[1]);
  const Shape& y = graph.shape(node.inputs[0]);
  const Shape& w = attributes.weights;
  const Window& window = attributes.window;
  if (attributes.groups == 1 || attributes.groups != x[1] || w[0] != x[1] || attributes.bias ||
      w[2] * w[3] <= kDepthwiseTaps || window.dilation != Square{1, 1} || layout == nchw()) {
    return std::nullopt;
  }
  cpu::DepthwiseGradient args{.view = channel_view(context, x, layout),
                              .height = x[2],
                              .width = x[3],
                              .out_height = y[2],
                              .out_width = y[3],
                              .window = window,
                              .dtype = graph.type(node.inputs[0]).dtype};
  const auto tag = context.block == kBlock ? dnnl::memory::format_tag::Goihw16g
                                           : dnnl::memory::format_tag::Goihw8g;
  Candidate candidate;
  candidate.implementation = "depthwise_gradient:highway";
  candidate.inputs = {layout, layout};
  candidate.outputs = {context.layouts.remember(
      {.dtype = DType::f32, .shape = w}, {{w[0], 1, 1, w[2], w[3]}, data_type(DType::f32), tag})};
  candidate.workspace_bytes = cpu::depthwise_gradient_workspace_bytes(args, context.team.size());
  const std::int64_t blocks = (x[1] + context.block - 1) / context.block;
  const auto items = static_cast<double>(blocks * x[0]);
  const auto threads = static_cast<double>(context.team.size());
  const double excess = std::ceil(items / threads) * threads / items;
  candidate.seconds = (args.dtype == DType::f32 ? kDepthwiseFactor : kDepthwiseHalfFactor) *
                      excess *
                      compute_seconds(context, work_of(graph, node).multiply_adds,
                                      candidate.implementation, layout);
  candidate.make = make_vector_kernel(context, [args](const Launch& launch) {
    cpu::DepthwiseGradient bound = args;
    bound.x = launch.in(1);
    bound.dy = launch.in(0);
    bound.dw = launch.floats_out(0);
    bound.workspace = launch.workspace;
    cpu::depthwise_gradient(launch.team, bound);
  });
  return candidate;
}

}  // namespace

void add_bias_gradient(const Context& context, const cpu::ChannelView& dy, DType dtype,
                       Candidate& candidate) {
  candidate.outputs.push_back(row_major(1));
  candidate.workspace_bytes =
      std::max(candidate.workspace_bytes, cpu::channel_workspace_bytes(dy, context.team.size()));
  candidate.seconds +=
      memory_seconds(context, dy.elements() * static_cast<std::int64_t>(size_of(dtype)));
}

void launch_bias_gradient(const Launch& launch, const cpu::ChannelView& dy, DType dtype) {
  cpu::bias_backward(launch.team, {.view = dy,
                                   .dtype = dtype,
                                   .dy = launch.in(0),
                                   .dbias = launch.floats_out(1),
                                   .workspace = launch.workspace});
}

std::vector<Candidate> own_filter_gradients(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  std::vector<Candidate> candidates;
  const auto offer = [&](std::optional<Candidate> candidate) {
    if (candidate) {
      candidates.push_back(std::move(*candidate));
    }
  };
  if (format == DataFormat::automatic) {
    offer(blocked_3x3(context, graph, node));
    offer(winograd_backward_weights(context, graph, node, format));
  }
  for (const Layout& layout : activation_layouts(context, graph.type(node.inputs[1]), format)) {
    offer(depthwise(context, graph, node, layout));
  }
  return candidates;
}

}  // namespace bench::onednn
