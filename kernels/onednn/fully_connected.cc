#include "models/ops/fully_connected.h"

#include <algorithm>

#include "kernels/onednn/context.h"
#include "kernels/onednn/epilogue.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/sliced_product.h"

namespace bench::onednn {
namespace {

using dnnl::prop_kind;
using Desc = dnnl::memory::desc;
using From = Argument::From;
using Tag = dnnl::memory::format_tag;

Desc plain(const Graph& graph, ValueId id) {
  const Shape& shape = graph.shape(id);
  return {dims(shape), data_type(graph.type(id).dtype), shape.rank() == 1 ? Tag::a : Tag::ab};
}

/// The estimate for one candidate; oneDNN's reference implementations are compute-bound.
double seconds_of(const Context& context, const Graph& graph, const Node& node,
                  const std::string& implementation) {
  const Work work = work_of(graph, node);
  return std::max(memory_seconds(context, work.bytes),
                  compute_seconds(context, work.multiply_adds, implementation, row_major(2)));
}

Desc any_filter(DType dtype, const Shape& shape) {
  return {dims(shape), data_type(dtype), Tag::any};
}

}  // namespace

std::vector<Candidate> fully_connected(Context& context, const Graph& graph, const Node& node,
                                       DataFormat /*format*/) {
  const Epilogue& epilogue = node.attributes.as<FullyConnectedAttributes>().epilogue;
  const TensorType& weights = graph.type(node.inputs[1]);
  dnnl::primitive_attr attributes = base_attributes();
  dnnl::post_ops post_ops;
  append_activation(post_ops, epilogue.activation);
  attributes.set_post_ops(post_ops);
  const dnnl::inner_product_forward::primitive_desc desc(
      context.engine, prop_kind::forward_training, plain(graph, node.inputs[0]),
      any_filter(weights.dtype, weights.shape),
      epilogue.bias ? plain(graph, node.inputs[2]) : Desc(), plain(graph, node.outputs[0]),
      attributes);
  Candidate candidate;
  candidate.implementation = desc.impl_info_str();
  candidate.inputs = {row_major(2), context.layouts.remember(weights, desc.weights_desc())};
  candidate.outputs = {row_major(2)};
  std::vector<Argument> arguments{{DNNL_ARG_SRC, desc.src_desc(), From::input, 0},
                                  {DNNL_ARG_WEIGHTS, desc.weights_desc(), From::input, 1},
                                  {DNNL_ARG_DST, desc.dst_desc(), From::output, 0}};
  if (epilogue.bias) {
    candidate.inputs.push_back(row_major(1));
    arguments.push_back({DNNL_ARG_BIAS, desc.bias_desc(), From::input, 2});
  }
  candidate.workspace_bytes = desc.scratchpad_desc().get_size();
  candidate.seconds = seconds_of(context, graph, node, candidate.implementation);
  candidate.make = make_primitive(context.engine, desc, std::move(arguments));
  return {candidate};
}

std::vector<Candidate> fully_connected_backward_data(Context& context, const Graph& graph,
                                                     const Node& node, DataFormat /*format*/) {
  const TensorType& weights = graph.type(node.inputs[1]);
  const Desc x = plain(graph, node.outputs[0]);
  const Desc y = plain(graph, node.inputs[0]);
  const dnnl::inner_product_forward::primitive_desc hint(
      context.engine, prop_kind::forward_training, x, any_filter(weights.dtype, weights.shape), y);
  std::vector<Candidate> candidates;
  for (const Desc& filter : {hint.weights_desc(), any_filter(weights.dtype, weights.shape)}) {
    const dnnl::inner_product_backward_data::primitive_desc desc(
        context.engine, x, filter, y, hint, base_attributes(), /*allow_empty=*/true);
    if (!desc) {
      continue;
    }
    Candidate candidate;
    candidate.implementation = desc.impl_info_str();
    candidate.inputs = {row_major(2), context.layouts.remember(weights, desc.weights_desc())};
    candidate.outputs = {row_major(2)};
    candidate.seconds = seconds_of(context, graph, node, candidate.implementation);
    if (auto sliced = sliced_data_gradient(context, x, desc.weights_desc(), y)) {
      candidate.implementation += ":sliced";
      candidate.workspace_bytes = sliced->workspace_bytes;
      candidate.make = std::move(sliced->make);
    } else {
      candidate.workspace_bytes = desc.scratchpad_desc().get_size();
      candidate.make = make_primitive(context.engine, desc,
                                      {{DNNL_ARG_DIFF_DST, y, From::input, 0},
                                       {DNNL_ARG_WEIGHTS, desc.weights_desc(), From::input, 1},
                                       {DNNL_ARG_DIFF_SRC, x, From::output, 0}});
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<Candidate> fully_connected_backward_weights(Context& context, const Graph& graph,
                                                        const Node& node, DataFormat /*format*/) {
  const bool bias = node.attributes.as<FullyConnectedBackwardWeightsAttributes>().bias;
  const TensorType& weights = graph.type(node.outputs[0]);
  const DType dtype = graph.type(node.inputs[1]).dtype;
  const Desc y = plain(graph, node.inputs[0]);
  const Desc x = plain(graph, node.inputs[1]);
  const Desc bias_desc = bias ? plain(graph, node.outputs[1]) : Desc();
  const dnnl::inner_product_forward::primitive_desc hint(
      context.engine, prop_kind::forward_training, x, any_filter(dtype, weights.shape), y);
  std::vector<Desc> filters;
  if (dtype == weights.dtype) {
    filters.push_back(hint.weights_desc());
  }
  filters.push_back(any_filter(weights.dtype, weights.shape));
  std::vector<Candidate> candidates;
  for (const Desc& filter : filters) {
    const dnnl::inner_product_backward_weights::primitive_desc desc(
        context.engine, x, filter, bias_desc, y, hint, base_attributes(), /*allow_empty=*/true);
    if (!desc) {
      continue;
    }
    Candidate candidate;
    candidate.implementation = desc.impl_info_str();
    candidate.inputs = {row_major(2), row_major(2)};
    candidate.outputs = {context.layouts.remember(weights, desc.diff_weights_desc())};
    std::vector<Argument> arguments;
    if (bias) {
      candidate.outputs.push_back(row_major(1));
      arguments.push_back({DNNL_ARG_DIFF_BIAS, desc.diff_bias_desc(), From::output, 1});
    }
    arguments.push_back({DNNL_ARG_DIFF_DST, y, From::input, 0});
    arguments.push_back({DNNL_ARG_SRC, x, From::input, 1});
    arguments.push_back({DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc(), From::output, 0});
    candidate.workspace_bytes = desc.scratchpad_desc().get_size();
    candidate.seconds = seconds_of(context, graph, node, candidate.implementation);
    candidate.make = make_primitive(context.engine, desc, std::move(arguments));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace bench::onednn
