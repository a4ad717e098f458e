#include "models/ops/conv2d.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kernels/onednn/context.h"
#include "kernels/onednn/epilogue.h"
#include "kernels/onednn/filter_gradient.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/residual.h"
#include "kernels/onednn/winograd.h"

namespace bench::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Desc = dnnl::memory::desc;
using From = Argument::From;
using Tag = dnnl::memory::format_tag;

/// Layouts of input and output activations of one candidate.
struct Activations {
  Layout x;
  Layout y;
};

/// A convolution in oneDNN's terms.
struct Problem {
  Window window;
  std::int64_t groups;
  Shape x;
  Shape w;
  Shape y;
  /// The type of the activations, and of the filters unless a kernel writes their gradient.
  DType dtype;

  [[nodiscard]] dnnl::memory::dims strides() const {
    return {window.stride.begin(), window.stride.end()};
  }
  [[nodiscard]] dnnl::memory::dims dilations() const {
    return {window.dilation[0] - 1, window.dilation[1] - 1};
  }
  [[nodiscard]] dnnl::memory::dims pad_before() const {
    return {window.pad_before.begin(), window.pad_before.end()};
  }
  [[nodiscard]] dnnl::memory::dims pad_after() const {
    return {window.pad_after.begin(), window.pad_after.end()};
  }
  [[nodiscard]] dnnl::memory::dims weight_dims() const {
    if (groups == 1) {
      return dims(w);
    }
    return {groups, w[0] / groups, w[1], w[2], w[3]};
  }
  [[nodiscard]] Desc any_weights() const { return {weight_dims(), data_type(dtype), Tag::any}; }
  [[nodiscard]] TensorType x_type() const { return {.dtype = dtype, .shape = x}; }
  [[nodiscard]] TensorType y_type() const { return {.dtype = dtype, .shape = y}; }
  [[nodiscard]] TensorType weight_type() const { return {.dtype = dtype, .shape = w}; }
  [[nodiscard]] DType learned() const { return accumulation_type(dtype); }
  [[nodiscard]] Desc any_weight_gradient() const {
    return {weight_dims(), data_type(learned()), Tag::any};
  }
  [[nodiscard]] TensorType weight_gradient_type() const { return {.dtype = learned(), .shape = w}; }
  [[nodiscard]] Desc bias() const { return {{w[0]}, data_type(learned()), Tag::a}; }
  [[nodiscard]] std::int64_t multiply_adds() const { return w[1] * w[2] * w[3] * y.elements(); }
};

std::vector<Activations> activation_pairs(const Context& context, const Problem& problem,
                                          DataFormat format) {
  std::vector<Activations> pairs;
  const bool narrow = problem.x[1] % context.block != 0;
  for (const Layout& from : activation_layouts(context, problem.x_type(), format)) {
    for (const Layout& to : activation_layouts(context, problem.y_type(), format)) {
      // Only the first convolutions change layouts; elsewhere a mix has no fast kernel.
      if (from == to || narrow) {
        pairs.push_back({.x = from, .y = to});
      }
    }
  }
  return pairs;
}

struct Descs {
  Desc x;
  Desc y;
};

Descs describe(const Context& context, const Problem& problem, const Activations& layouts) {
  return {.x = context.layouts.desc(problem.x_type(), layouts.x),
          .y = context.layouts.desc(problem.y_type(), layouts.y)};
}

/// How a primitive gets the residual: as a further argument, or in the output's memory.
enum class Residual : std::uint8_t { argument, in_output };

dnnl::primitive_attr epilogue_attributes(const Epilogue& epilogue, const Desc& y,
                                         Residual residual) {
  dnnl::primitive_attr attributes = base_attributes();
  dnnl::post_ops post_ops;
  if (epilogue.residual && residual == Residual::argument) {
    post_ops.append_binary(algorithm::binary_add, y);
  } else if (epilogue.residual) {
    post_ops.append_sum();
  }
  append_activation(post_ops, epilogue.activation);
  attributes.set_post_ops(post_ops);
  return attributes;
}

dnnl::convolution_forward::primitive_desc forward(const Context& context, const Problem& problem,
                                                  const Descs& descs, const Epilogue& epilogue,
                                                  const Desc& weights,
                                                  Residual residual = Residual::argument) {
  return {context.engine,
          prop_kind::forward_training,
          algorithm::convolution_direct,
          descs.x,
          weights,
          epilogue.bias ? problem.bias() : Desc(),
          descs.y,
          problem.strides(),
          problem.dilations(),
          problem.pad_before(),
          problem.pad_after(),
          epilogue_attributes(epilogue, descs.y, residual),
          /*allow_empty=*/true};
}

using Hint = dnnl::convolution_forward::primitive_desc;

/// Calls make(filters, hint) for the filter layouts that a backward kernel may use. One is the
/// forward kernel's preference, which saves a reorder if both have one type. The other is the
/// backward kernel's preference.
template <class PrimitiveDesc>
std::vector<PrimitiveDesc> backward_variants(
    const Context& context, const Problem& problem, const Descs& descs, const Desc& any_filters,
    const std::function<PrimitiveDesc(const Desc&, const Hint&)>& make) {
  const Hint hint = forward(context, problem, descs, {}, problem.any_weights());
  std::vector<PrimitiveDesc> variants;
  if (hint) {
    std::vector<Desc> filters;
    if (hint.weights_desc().get_data_type() == any_filters.get_data_type()) {
      filters.push_back(hint.weights_desc());
    }
    filters.push_back(any_filters);
    for (const Desc& weights : filters) {
      if (auto desc = make(weights, hint)) {
        variants.push_back(std::move(desc));
      }
    }
  }
  return variants;
}

/// Skips oneDNN 3.2's first choice for the data gradients of strided depthwise convolutions in
/// bf16. It took 30 times as long as the next one: 86 ms and 3 ms for 64 channels of 112 x 112,
/// NHWC, Zen 4. Call it while the forward hint exists: a descriptor points to it.
void pass_over_slow(const Problem& problem, dnnl::convolution_backward_data::primitive_desc& desc) {
  const bool depthwise = problem.groups > 1 && problem.groups == problem.x[1];
  while (desc && depthwise &&
         desc.impl_info_str() == std::string_view("brgconv_strided:avx512_core_bf16") &&
         desc.next_impl()) {
  }
}

Problem problem_of(const Graph& graph, const Window& window, std::int64_t groups, const Shape& x,
                   const Shape& w, ValueId y) {
  return {.window = window,
          .groups = groups,
          .x = x,
          .w = w,
          .y = graph.shape(y),
          .dtype = graph.type(y).dtype};
}

}  // namespace

std::vector<Candidate> conv2d(Context& context, const Graph& graph, const Node& node,
                              DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  const Epilogue& epilogue = attributes.epilogue;
  const Problem problem =
      problem_of(graph, attributes.window, attributes.groups, graph.shape(node.inputs[0]),
                 graph.shape(node.inputs[1]), node.outputs[0]);
  std::vector<Candidate> candidates;
  for (const auto& layouts : activation_pairs(context, problem, format)) {
    const Descs descs = describe(context, problem, layouts);
    auto desc = forward(context, problem, descs, epilogue, problem.any_weights());
    if (!desc) {
      continue;
    }
    Residual residual = Residual::argument;
    if (epilogue.residual && is_reference(desc.impl_info_str())) {
      // In NCHW the fast kernels can only add a residual to their output's contents.
      auto adding =
          forward(context, problem, descs, epilogue, problem.any_weights(), Residual::in_output);
      if (adding && !is_reference(adding.impl_info_str())) {
        desc = std::move(adding);
        residual = Residual::in_output;
      }
    }
    Candidate candidate;
    candidate.implementation = desc.impl_info_str();
    candidate.inputs = {layouts.x,
                        context.layouts.remember(problem.weight_type(), desc.weights_desc())};
    candidate.outputs = {layouts.y};
    std::vector<Argument> arguments;
    arguments.push_back({DNNL_ARG_SRC, desc.src_desc(), From::input, 0});
    arguments.push_back({DNNL_ARG_WEIGHTS, desc.weights_desc(), From::input, 1});
    arguments.push_back({DNNL_ARG_DST, desc.dst_desc(), From::output, 0});
    std::size_t next = 2;
    if (epilogue.bias) {
      candidate.inputs.push_back(row_major(1));
      arguments.push_back({DNNL_ARG_BIAS, desc.bias_desc(), From::input, next++});
    }
    if (epilogue.residual) {
      candidate.inputs.push_back(layouts.y);
    }
    if (epilogue.residual && residual == Residual::argument) {
      arguments.push_back(
          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, descs.y, From::input, next});
    }
    candidate.workspace_bytes = desc.scratchpad_desc().get_size();
    candidate.seconds =
        compute_seconds(context, problem.multiply_adds(), candidate.implementation, layouts.y);
    candidate.make = make_primitive(context.engine, desc, std::move(arguments));
    if (residual == Residual::in_output) {
      candidate.may_overwrite = {{.output = 0, .input = next}};
      candidate.make = adding_to_residual(context, std::move(candidate.make), next);
    }
    candidates.push_back(std::move(candidate));
  }
  if (auto candidate = winograd_forward(context, graph, node, format)) {
    candidates.push_back(std::move(*candidate));
  }
  return candidates;
}

std::vector<Candidate> conv2d_backward_data(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  const Problem problem = problem_of(graph, attributes.window, attributes.groups, attributes.input,
                                     graph.shape(node.inputs[1]), node.inputs[0]);
  std::vector<Candidate> candidates;
  const auto add = [&](const Activations& layouts) {
    const Descs descs = describe(context, problem, layouts);
    using Backward = dnnl::convolution_backward_data::primitive_desc;
    const auto variants = backward_variants<Backward>(
        context, problem, descs, problem.any_weights(), [&](const Desc& weights, const Hint& hint) {
          Backward desc(context.engine, algorithm::convolution_direct, descs.x, weights, descs.y,
                        problem.strides(), problem.dilations(), problem.pad_before(),
                        problem.pad_after(), hint, base_attributes(), /*allow_empty=*/true);
          pass_over_slow(problem, desc);
          return desc;
        });
    for (const auto& desc : variants) {
      Candidate candidate;
      candidate.implementation = desc.impl_info_str();
      candidate.inputs = {layouts.y,
                          context.layouts.remember(problem.weight_type(), desc.weights_desc())};
      candidate.outputs = {layouts.x};
      candidate.workspace_bytes = desc.scratchpad_desc().get_size();
      candidate.seconds =
          compute_seconds(context, problem.multiply_adds(), candidate.implementation, layouts.y);
      candidate.make = make_primitive(context.engine, desc,
                                      {{DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), From::input, 0},
                                       {DNNL_ARG_WEIGHTS, desc.weights_desc(), From::input, 1},
                                       {DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), From::output, 0}});
      candidates.push_back(std::move(candidate));
    }
  };
  std::ranges::for_each(activation_pairs(context, problem, format), add);
  const bool slow = std::ranges::all_of(candidates, [](const Candidate& candidate) {
    return is_reference(candidate.implementation);
  });
  if (slow && format == DataFormat::automatic) {
    // With AVX2, oneDNN 3.2 has only its reference for different strides in y and x. Its product of
    // matrices is far faster, but needs this layout.
    add({.x = nchw(), .y = nchw()});
  }
  if (auto candidate = winograd_backward_data(context, graph, node, format)) {
    candidates.push_back(std::move(*candidate));
  }
  return candidates;
}

std::vector<Candidate> conv2d_backward_weights(Context& context, const Graph& graph,
                                               const Node& node, DataFormat format) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Problem problem =
      problem_of(graph, attributes.window, attributes.groups, graph.shape(node.inputs[1]),
                 attributes.weights, node.inputs[0]);
  std::vector<Candidate> candidates;
  for (const auto& layouts : activation_pairs(context, problem, format)) {
    const Descs descs = describe(context, problem, layouts);
    using Backward = dnnl::convolution_backward_weights::primitive_desc;
    const auto variants = backward_variants<Backward>(
        context, problem, descs, problem.any_weight_gradient(),
        [&](const Desc& weights, const Hint& hint) {
          return Backward(context.engine, algorithm::convolution_direct, descs.x, weights,
                          attributes.bias ? problem.bias() : Desc(), descs.y, problem.strides(),
                          problem.dilations(), problem.pad_before(), problem.pad_after(), hint,
                          base_attributes(), /*allow_empty=*/true);
        });
    for (const auto& desc : variants) {
      Candidate candidate;
      candidate.implementation = desc.impl_info_str();
      candidate.inputs = {layouts.y, layouts.x};
      candidate.outputs = {
          context.layouts.remember(problem.weight_gradient_type(), desc.diff_weights_desc())};
      std::vector<Argument> arguments;
      arguments.push_back({DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), From::input, 0});
      arguments.push_back({DNNL_ARG_SRC, desc.src_desc(), From::input, 1});
      arguments.push_back({DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc(), From::output, 0});
      if (attributes.bias) {
        candidate.outputs.push_back(row_major(1));
        arguments.push_back({DNNL_ARG_DIFF_BIAS, desc.diff_bias_desc(), From::output, 1});
      }
      candidate.workspace_bytes = desc.scratchpad_desc().get_size();
      candidate.seconds =
          compute_seconds(context, problem.multiply_adds(), candidate.implementation, layouts.y);
      candidate.make = make_primitive(context.engine, desc, std::move(arguments));
      candidates.push_back(std::move(candidate));
    }
  }
  for (Candidate& candidate : own_filter_gradients(context, graph, node, format)) {
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace bench::onednn
