#include <fmt/ostream.h>
#include <string_view>

#include "kernels/onednn/epilogue.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/quantized.h"
#include "kernels/onednn/residual.h"
#include "models/base/errors.h"
#include "models/ops/quantized.h"

namespace bench::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Desc = dnnl::memory::desc;
using From = Argument::From;
using Tag = dnnl::memory::format_tag;

/// A convolution or fully connected layer in the terms of both primitives. Its inputs are x,
/// weights, weight scales, and the epilogue's inputs.
struct Layer {
  Epilogue epilogue;
  std::int64_t groups = 1;
  double input_scale = 1;
  double residual_scale = 1;
  QuantizedOutput output;
};

Layer layer_of(const Node& node) {
  if (node.op == &kQuantizedConv2d) {
    const auto& attributes = node.attributes.as<QuantizedConv2dAttributes>();
    return {.epilogue = attributes.conv.epilogue,
            .groups = attributes.conv.groups,
            .input_scale = attributes.input_scale,
            .residual_scale = attributes.residual_scale,
            .output = attributes.output};
  }
  const auto& attributes = node.attributes.as<QuantizedFullyConnectedAttributes>();
  return {.epilogue = attributes.layer.epilogue,
          .input_scale = attributes.input_scale,
          .output = attributes.output};
}

dnnl::primitive_attr attributes_of(const Graph& graph, const Node& node, const Layer& layer) {
  dnnl::primitive_attr attributes = base_attributes();
  attributes.set_scales_mask(DNNL_ARG_SRC, 0);
  // Filters of a grouped convolution have the group and the output channel as their first axes.
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, layer.groups == 1 ? 1 : 3);
  if (is_quantized(layer.output.dtype)) {
    attributes.set_scales_mask(DNNL_ARG_DST, 0);
  }
  dnnl::post_ops post_ops;
  if (layer.epilogue.residual) {
    // The residual is in the output's memory; if it is quanta, with its scale.
    post_ops.append_sum(static_cast<float>(layer.residual_scale), 0,
                        data_type(graph.type(node.inputs.back()).dtype));
  }
  append_activation(post_ops, layer.epilogue.activation);
  attributes.set_post_ops(post_ops);
  return attributes;
}

Desc bias_of(const Graph& graph, const Node& node, const Layer& layer) {
  return layer.epilogue.bias
             ? Desc(dims(graph.shape(node.inputs[3])), data_type(DType::f32), Tag::a)
             : Desc();
}

dnnl::convolution_forward::primitive_desc describe_conv2d(const Context& context,
                                                          const Graph& graph, const Node& node,
                                                          const Layout& x, const Layout& y) {
  const auto& conv = node.attributes.as<QuantizedConv2dAttributes>().conv;
  const Window& window = conv.window;
  const Layer layer = layer_of(node);
  const Shape& w = graph.shape(node.inputs[1]);
  const dnnl::memory::dims filters =
      conv.groups == 1 ? dims(w)
                       : dnnl::memory::dims{conv.groups, w[0] / conv.groups, w[1], w[2], w[3]};
  const auto pair = [](const std::array<std::int64_t, 2>& values) {
    return dnnl::memory::dims(values.begin(), values.end());
  };
  return {context.engine,
          prop_kind::forward_inference,
          algorithm::convolution_direct,
          context.layouts.desc(graph.type(node.inputs[0]), x),
          Desc(filters, data_type(DType::s8), Tag::any),
          bias_of(graph, node, layer),
          context.layouts.desc(graph.type(node.outputs[0]), y),
          pair(window.stride),
          {window.dilation[0] - 1, window.dilation[1] - 1},
          pair(window.pad_before),
          pair(window.pad_after),
          attributes_of(graph, node, layer),
          /*allow_empty=*/true};
}

dnnl::inner_product_forward::primitive_desc describe_fully_connected(const Context& context,
                                                                     const Graph& graph,
                                                                     const Node& node) {
  const Layer layer = layer_of(node);
  const Layout rows = row_major(2);
  return {context.engine,
          prop_kind::forward_inference,
          context.layouts.desc(graph.type(node.inputs[0]), rows),
          Desc(dims(graph.shape(node.inputs[1])), data_type(DType::s8), Tag::any),
          bias_of(graph, node, layer),
          context.layouts.desc(graph.type(node.outputs[0]), rows),
          attributes_of(graph, node, layer),
          /*allow_empty=*/true};
}

template <class PrimitiveDesc>
Support is_fast(const PrimitiveDesc& desc, const Node& node) {
  if (desc && !is_reference(desc.impl_info_str())) {
    return {};
  }
  return {.yes = false,
          .why_not = fmt::format("onednn has no fast {} {{{}}}", node.op->name,
                                 fmt::streamed(node.attributes))};
}

/// The candidate of either primitive; empty if it could not be created.
template <class PrimitiveDesc>
std::vector<Candidate> layer_candidates(Context& context, const Graph& graph, const Node& node,
                                        const PrimitiveDesc& desc, const Layout& x,
                                        const Layout& y) {
  if (!desc) {
    return {};
  }
  const Layer layer = layer_of(node);
  Candidate candidate;
  candidate.implementation = desc.impl_info_str();
  candidate.inputs = {x, context.layouts.remember(graph.type(node.inputs[1]), desc.weights_desc()),
                      row_major(1)};
  candidate.outputs = {y};
  const Desc weight_scales(dims(graph.shape(node.inputs[2])), data_type(DType::f32), Tag::a);
  std::vector<Argument> arguments{
      {DNNL_ARG_SRC, desc.src_desc(), From::input, 0},
      {DNNL_ARG_WEIGHTS, desc.weights_desc(), From::input, 1},
      {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, weight_scales, From::input, 2},
      {DNNL_ARG_DST, desc.dst_desc(), From::output, 0},
      constant_scale(DNNL_ARG_SRC, layer.input_scale)};
  if (is_quantized(layer.output.dtype)) {
    arguments.push_back(constant_scale(DNNL_ARG_DST, layer.output.scale));
  }
  if (layer.epilogue.bias) {
    candidate.inputs.push_back(row_major(1));
    arguments.push_back({DNNL_ARG_BIAS, desc.bias_desc(), From::input, 3});
  }
  candidate.workspace_bytes = desc.scratchpad_desc().get_size();
  candidate.seconds =
      compute_seconds(context, work_of(graph, node).multiply_adds, candidate.implementation, y);
  candidate.make = make_primitive(context.engine, desc, std::move(arguments));
  if (layer.epilogue.residual) {
    const std::size_t residual = candidate.inputs.size();
    candidate.inputs.push_back(y);
    candidate.may_overwrite = {{.output = 0, .input = residual}};
    candidate.make = adding_to_residual(context, std::move(candidate.make), residual);
  }
  return {candidate};
}

}  // namespace

Support supports_quantized_layer(const Context& context, const Graph& graph, const Node& node) {
  if (node.op == &kQuantizedConv2d) {
    return is_fast(describe_conv2d(context, graph, node, nhwc(), nhwc()), node);
  }
  return is_fast(describe_fully_connected(context, graph, node), node);
}

std::vector<Candidate> quantized_conv2d(Context& context, const Graph& graph, const Node& node,
                                        DataFormat format) {
  const Layout x = quantized_layout(graph.shape(node.inputs[0]), format);
  std::vector<Candidate> candidates;
  // A result in f32 may have any layout that the next kernel prefers, if oneDNN can write it.
  for (const Layout& y : activation_layouts(context, graph.type(node.outputs[0]), format)) {
    const auto desc = describe_conv2d(context, graph, node, x, y);
    for (Candidate& candidate : layer_candidates(context, graph, node, desc, x, y)) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

std::vector<Candidate> quantized_fully_connected(Context& context, const Graph& graph,
                                                 const Node& node, DataFormat /*format*/) {
  const Layout rows = row_major(2);
  return layer_candidates(context, graph, node, describe_fully_connected(context, graph, node),
                          rows, rows);
}

}  // namespace bench::onednn
