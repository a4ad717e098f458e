#include "kernels/onednn/winograd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/cpu/element.h"
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/winograd_gradient.h"
#include "kernels/onednn/filter_gradient.h"
#include "kernels/onednn/isa.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/conv2d.h"

namespace bench::onednn {
namespace {

/// The time relative to the estimate: 1.0 to 1.2 for most layers of ResNet-50 and VGG-16, Zen 4.
constexpr double kWinogradFactor = 1.1;

/// Assumed for the gradient of the filters, whose estimate has other costs.
constexpr double kGradientFactor = 1.35;

/// With blocks of 16 channels, the vectors of AVX-512; with blocks of 8, those of AVX2.
bool is_wide(const Context& context) { return context.block == 16; }
const char* implementation(const Context& context) {
  return is_wide(context) ? "winograd_4x4:avx512_core" : "winograd_4x4:avx2";
}

using Square = std::array<std::int64_t, 2>;
using Tag = dnnl::memory::format_tag;

/// With AMX, oneDNN multiplies bf16 in its tiles, which is faster.
bool has_instructions(const Context& context, DType dtype) {
  if (dtype == DType::bf16) {
    return is_wide(context) && has_isa(dnnl::cpu_isa::avx512_core) &&
           !has_isa(dnnl::cpu_isa::avx512_core_amx);
  }
  return dtype == DType::f32 &&
         has_isa(is_wide(context) ? dnnl::cpu_isa::avx512_core : dnnl::cpu_isa::avx2);
}

/// The speed of oneDNN's kernels relative to f32. In bf16 it is about 1.8 on Zen 4, 0.5 on Emerald
/// Rapids without AMX, and 0.2 there without bf16 instructions. Other Intel processors are assumed
/// to be like Emerald Rapids.
double speed_of_onednn(DType dtype) {
  constexpr double kWithoutGain = 0.5;
  constexpr double kWithGain = 1.8;
  if (dtype != DType::bf16) {
    return 1;
  }
#if defined(__x86_64__)
  if (!has_isa(dnnl::cpu_isa::avx512_core_bf16) || __builtin_cpu_is("intel") != 0) {
    return kWithoutGain;
  }
#endif
  return kWithGain;
}

bool fits(const Context& context, const Window& window, std::int64_t groups, const Shape& w,
          DType dtype, DataFormat format) {
  return context.winograd && format == DataFormat::automatic && has_instructions(context, dtype) &&
         groups == 1 && w[0] % context.block == 0 && w[1] % context.block == 0 &&
         window.kernel == Square{3, 3} && window.stride == Square{1, 1} &&
         window.dilation == Square{1, 1};
}

cpu::WinogradShape shape_of(const Context& context, DType dtype, const Shape& x, const Shape& y,
                            const Square& pad_before) {
  return {.dtype = dtype,
          .block = context.block,
          .batch = x[0],
          .in_blocks = x[1] / context.block,
          .height = x[2],
          .width = x[3],
          .out_blocks = y[1] / context.block,
          .out_height = y[2],
          .out_width = y[3],
          .pad_top = pad_before[0],
          .pad_left = pad_before[1]};
}

Layout filter_layout(Context& context, const TensorType& w, Tag tag) {
  return context.layouts.remember(w, {dims(w.shape), data_type(w.dtype), tag});
}
Layout forward_filters(Context& context, const TensorType& w) {
  return filter_layout(context, w, is_wide(context) ? Tag::OIhw16i16o : Tag::OIhw8i8o);
}
Layout backward_filters(Context& context, const TensorType& w) {
  return filter_layout(context, w, is_wide(context) ? Tag::OIhw16o16i : Tag::OIhw8o8i);
}

/// True for a variable that no step of the graph changes.
bool is_constant(const Graph& graph, ValueId value) {
  const auto changes = [&](const Graph::Pair& pair) { return pair.variable == value; };
  return graph.value(value).origin == Value::Origin::variable &&
         std::none_of(graph.gradients().begin(), graph.gradients().end(), changes) &&
         std::none_of(graph.updates().begin(), graph.updates().end(), changes);
}

Candidate candidate_of(Context& context, const cpu::WinogradPlan& plan, const Layout& filters) {
  const Layout blocked = LayoutTable::blocked(context.block);
  Candidate candidate;
  candidate.implementation = implementation(context);
  candidate.inputs = {blocked, filters};
  candidate.outputs = {blocked};
  candidate.workspace_bytes = plan.workspace_bytes;
  candidate.multiply_adds = plan.multiply_adds;
  candidate.seconds = kWinogradFactor * speed_of_onednn(plan.shape.dtype) *
                      compute_seconds(context, plan.cost, candidate.implementation, blocked);
  return candidate;
}

/// The transformed filters, which follow the plain ones.
float* transformed_in(void* filters, std::size_t plain_bytes) {
  return reinterpret_cast<float*>(static_cast<std::byte*>(filters) + plain_bytes);
}

/// See with_winograd_transforms().
class TransformingReorder final : public Kernel {
 public:
  TransformingReorder(const Context& context, std::unique_ptr<Kernel> reorder,
                      const TensorType& filters)
      : team_(context.team),
        reorder_(std::move(reorder)),
        shape_(winograd_filter_shape(context.block, filters)),
        plain_bytes_(cpu::bytes_of(filters.shape.elements(), filters.dtype)) {}

  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    reorder_->launch(stream, inputs, outputs, workspace);
    stream.synchronize();
    auto* const blocks = outputs[0].as<std::byte>();
    cpu::transform_winograd_filters(team_, shape_, blocks, transformed_in(blocks, plain_bytes_));
  }

 private:
  cpu::ThreadTeam& team_;
  std::unique_ptr<Kernel> reorder_;
  cpu::WinogradFilterShape shape_;
  std::size_t plain_bytes_;
};

}  // namespace

std::optional<Candidate> winograd_forward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  const Epilogue& epilogue = attributes.epilogue;
  const TensorType& w = graph.type(node.inputs[1]);
  const bool limits = epilogue.activation == ActivationKind::none ||
                      epilogue.activation == ActivationKind::relu ||
                      epilogue.activation == ActivationKind::relu6;
  if (!limits || !fits(context, attributes.window, attributes.groups, w.shape, w.dtype, format)) {
    return std::nullopt;
  }
  const bool constant = is_constant(graph, node.inputs[1]);
  const cpu::WinogradPlan plan = cpu::plan_winograd(
      shape_of(context, w.dtype, graph.shape(node.inputs[0]), graph.shape(node.outputs[0]),
               attributes.window.pad_before),
      constant ? cpu::WinogradFilters::transformed : cpu::WinogradFilters::forward,
      context.team.size());
  Candidate candidate = candidate_of(
      context, plan,
      constant ? LayoutTable::winograd_filters(context.block) : forward_filters(context, w));
  const int bias = epilogue.bias ? 2 : -1;
  const int residual = epilogue.residual ? 2 + (epilogue.bias ? 1 : 0) : -1;
  if (epilogue.bias) {
    candidate.inputs.push_back(row_major(1));
  }
  if (epilogue.residual) {
    candidate.inputs.push_back(candidate.outputs[0]);
    candidate.may_overwrite = {{.output = 0, .input = static_cast<std::size_t>(residual)}};
  }
  cpu::Winograd args{.plan = plan};
  if (epilogue.activation != ActivationKind::none) {
    args.lower = 0;
  }
  if (epilogue.activation == ActivationKind::relu6) {
    args.upper = 6;
  }
  const std::size_t skipped = constant ? cpu::bytes_of(w.shape.elements(), w.dtype) : 0;
  candidate.make =
      make_vector_kernel(context, [args, bias, residual, skipped](const Launch& launch) {
        cpu::Winograd bound = args;
        bound.x = launch.in(0);
        bound.filters = static_cast<const std::byte*>(launch.in(1)) + skipped;
        bound.bias = launch.floats_in(bias);
        bound.residual = launch.in(residual);
        bound.y = launch.out(0);
        bound.workspace = launch.workspace;
        cpu::winograd(launch.team, bound);
      });
  return candidate;
}

std::optional<Candidate> winograd_backward_data(Context& context, const Graph& graph,
                                                const Node& node, DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  const TensorType& w = graph.type(node.inputs[1]);
  if (!fits(context, attributes.window, attributes.groups, w.shape, w.dtype, format)) {
    return std::nullopt;
  }
  // The data gradient is the convolution of dy with the rotated filters.
  const auto& pad = attributes.window.pad_before;
  const cpu::WinogradPlan plan =
      cpu::plan_winograd(shape_of(context, w.dtype, graph.shape(node.inputs[0]), attributes.input,
                                  {2 - pad[0], 2 - pad[1]}),
                         cpu::WinogradFilters::backward_data, context.team.size());
  Candidate candidate = candidate_of(context, plan, backward_filters(context, w));
  candidate.make = make_vector_kernel(context, [plan](const Launch& launch) {
    cpu::winograd(launch.team, {.plan = plan,
                                .x = launch.in(0),
                                .filters = launch.in(1),
                                .y = launch.out(0),
                                .workspace = launch.workspace});
  });
  return candidate;
}

std::optional<Candidate> winograd_backward_weights(Context& context, const Graph& graph,
                                                   const Node& node, DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Shape& w = attributes.weights;
  const Shape& y = graph.shape(node.inputs[0]);
  const DType dtype = graph.type(node.inputs[0]).dtype;
  if (!fits(context, attributes.window, attributes.groups, w, dtype, format)) {
    return std::nullopt;
  }
  const cpu::WinogradGradientPlan plan = cpu::plan_winograd_gradient(
      shape_of(context, dtype, graph.shape(node.inputs[1]), y, attributes.window.pad_before),
      context.team.size());
  const Layout blocked = LayoutTable::blocked(context.block);
  Candidate candidate;
  candidate.implementation = implementation(context);
  candidate.inputs = {blocked, blocked};
  candidate.outputs = {forward_filters(context, {.dtype = DType::f32, .shape = w})};
  candidate.workspace_bytes = plan.workspace_bytes;
  candidate.multiply_adds = plan.multiply_adds;
  candidate.seconds = kGradientFactor * speed_of_onednn(dtype) *
                      compute_seconds(context, plan.multiply_adds + plan.overhead,
                                      candidate.implementation, blocked);
  const cpu::ChannelView dy = channel_view(context, y, blocked);
  if (attributes.bias) {
    add_bias_gradient(context, dy, dtype, candidate);
  }
  candidate.make =
      make_vector_kernel(context, [plan, dy, dtype, bias = attributes.bias](const Launch& launch) {
        cpu::winograd_gradient(launch.team, {.plan = plan,
                                             .x = launch.in(1),
                                             .dy = launch.in(0),
                                             .dw = launch.floats_out(0),
                                             .workspace = launch.workspace});
        if (bias) {
          launch_bias_gradient(launch, dy, dtype);
        }
      });
  return candidate;
}

std::unique_ptr<Kernel> with_winograd_transforms(Context& context, std::unique_ptr<Kernel> reorder,
                                                 const TensorType& filters) {
  return std::make_unique<TransformingReorder>(context, std::move(reorder), filters);
}

}  // namespace bench::onednn
