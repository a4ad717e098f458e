#include "kernels/onednn/winograd.h"

#include <array>

#include "kernels/cpu/winograd.h"
#include "kernels/onednn/isa.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/conv2d.h"

namespace bench::onednn {
namespace {

constexpr int kWinogradBlock = 16;
/// The time of a multiply-add, relative to oneDNN's kernels: 1.2 to 1.5 over the 3x3 layers of
/// ResNet-50 and VGG-16, Zen 4.
constexpr double kWinogradFactor = 1.35;

using Square = std::array<std::int64_t, 2>;
using Tag = dnnl::memory::format_tag;

/// A convolution of `x` with filters `w` [O, I, 3, 3] whose result is `y`.
struct Convolution {
  Shape x;
  Shape w;
  Shape y;
  Square pad_before;
};

bool fits(const Context& context, const Window& window, std::int64_t groups, const Shape& w,
          DType dtype, DataFormat format) {
  return context.winograd && format == DataFormat::automatic && dtype == DType::f32 &&
         context.block == kWinogradBlock && has_isa(dnnl::cpu_isa::avx512_core) && groups == 1 &&
         w[0] % kWinogradBlock == 0 && w[1] % kWinogradBlock == 0 &&
         window.kernel == Square{3, 3} && window.stride == Square{1, 1} &&
         window.dilation == Square{1, 1};
}

std::optional<cpu::WinogradPlan> plan_of(const Context& context, const Convolution& convolution) {
  return cpu::plan_winograd({.batch = convolution.x[0],
                             .in_blocks = convolution.x[1] / kWinogradBlock,
                             .height = convolution.x[2],
                             .width = convolution.x[3],
                             .out_blocks = convolution.y[1] / kWinogradBlock,
                             .out_height = convolution.y[2],
                             .out_width = convolution.y[3],
                             .pad_top = convolution.pad_before[0],
                             .pad_left = convolution.pad_before[1]},
                            context.team.size());
}

Candidate candidate_of(Context& context, const cpu::WinogradPlan& plan, const Shape& w, Tag tag) {
  const Layout blocked = LayoutTable::blocked(kWinogradBlock);
  Candidate candidate;
  candidate.implementation = "winograd_4x4:avx512_core";
  candidate.inputs = {blocked, context.layouts.remember({.dtype = DType::f32, .shape = w},
                                                        {dims(w), data_type(DType::f32), tag})};
  candidate.outputs = {blocked};
  candidate.workspace_bytes = plan.workspace_bytes;
  candidate.multiply_adds = plan.multiply_adds;
  candidate.seconds = kWinogradFactor * plan.excess *
                      compute_seconds(context, plan.multiply_adds + plan.overhead,
                                      candidate.implementation, blocked);
  return candidate;
}

}  // namespace

std::optional<Candidate> winograd_forward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  const Epilogue& epilogue = attributes.epilogue;
  const Shape& w = graph.shape(node.inputs[1]);
  const bool limits = epilogue.activation == ActivationKind::none ||
                      epilogue.activation == ActivationKind::relu ||
                      epilogue.activation == ActivationKind::relu6;
  if (!limits || !fits(context, attributes.window, attributes.groups, w,
                       graph.type(node.inputs[0]).dtype, format)) {
    return std::nullopt;
  }
  const auto plan = plan_of(context, {.x = graph.shape(node.inputs[0]),
                                      .w = w,
                                      .y = graph.shape(node.outputs[0]),
                                      .pad_before = attributes.window.pad_before});
  if (!plan) {
    return std::nullopt;
  }
  Candidate candidate = candidate_of(context, *plan, w, Tag::OIhw16i16o);
  const int bias = epilogue.bias ? 2 : -1;
  const int residual = epilogue.residual ? 2 + (epilogue.bias ? 1 : 0) : -1;
  if (epilogue.bias) {
    candidate.inputs.push_back(row_major(1));
  }
  if (epilogue.residual) {
    candidate.inputs.push_back(candidate.outputs[0]);
    candidate.may_overwrite = {{.output = 0, .input = static_cast<std::size_t>(residual)}};
  }
  cpu::Winograd args{.plan = *plan, .order = cpu::WinogradFilters::forward};
  if (epilogue.activation != ActivationKind::none) {
    args.least = 0;
  }
  if (epilogue.activation == ActivationKind::relu6) {
    args.most = 6;
  }
  candidate.make = make_vector_kernel(context, [args, bias, residual](const Launch& launch) {
    cpu::Winograd bound = args;
    bound.x = launch.floats_in(0);
    bound.filters = launch.floats_in(1);
    bound.bias = launch.floats_in(bias);
    bound.residual = launch.floats_in(residual);
    bound.y = launch.floats_out(0);
    bound.workspace = launch.workspace;
    cpu::winograd(launch.team, bound);
  });
  return candidate;
}

std::optional<Candidate> winograd_backward_data(Context& context, const Graph& graph,
                                                const Node& node, DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  const Shape& w = graph.shape(node.inputs[1]);
  if (!fits(context, attributes.window, attributes.groups, w, graph.type(node.inputs[0]).dtype,
            format)) {
    return std::nullopt;
  }
  // The data gradient is the convolution of dy with the rotated filters.
  const auto& pad = attributes.window.pad_before;
  const auto plan = plan_of(context, {.x = graph.shape(node.inputs[0]),
                                      .w = w,
                                      .y = attributes.input,
                                      .pad_before = {2 - pad[0], 2 - pad[1]}});
  if (!plan) {
    return std::nullopt;
  }
  Candidate candidate = candidate_of(context, *plan, w, Tag::OIhw16o16i);
  candidate.make = make_vector_kernel(context, [plan = *plan](const Launch& launch) {
    cpu::winograd(launch.team, {.plan = plan,
                                .order = cpu::WinogradFilters::backward_data,
                                .x = launch.floats_in(0),
                                .filters = launch.floats_in(1),
                                .y = launch.floats_out(0),
                                .workspace = launch.workspace});
  });
  return candidate;
}

}  // namespace bench::onednn
