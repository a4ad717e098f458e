#include "kernels/onednn/quantized.h"

#include <algorithm>

#include "kernels/onednn/isa.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/ops/quantized.h"

namespace bench::onednn {
namespace {

using dnnl::algorithm;
using From = Argument::From;

template <class PrimitiveDesc>
Candidate primitive_candidate(Context& context, const Graph& graph, const Node& node,
                              const PrimitiveDesc& desc, std::vector<Argument> arguments) {
  Candidate candidate;
  candidate.implementation = desc.impl_info_str();
  candidate.workspace_bytes = desc.scratchpad_desc().get_size();
  candidate.seconds = memory_seconds(context, work_of(graph, node).bytes);
  candidate.make = make_primitive(context.engine, desc, std::move(arguments));
  return candidate;
}

/// A reorder that also changes the type and divides or multiplies by the scale.
Candidate conversion(Context& context, const Graph& graph, const Node& node, const Layout& from,
                     const Layout& to, const Argument& scale) {
  const auto source = context.layouts.desc(graph.type(node.inputs[0]), from);
  const auto target = context.layouts.desc(graph.type(node.outputs[0]), to);
  dnnl::primitive_attr attributes = base_attributes();
  attributes.set_scales_mask(scale.id & ~DNNL_ARG_ATTR_SCALES, 0);
  const dnnl::reorder::primitive_desc desc(context.engine, source, context.engine, target,
                                           attributes);
  Candidate candidate = primitive_candidate(
      context, graph, node, desc,
      {{DNNL_ARG_FROM, source, From::input, 0}, {DNNL_ARG_TO, target, From::output, 0}, scale});
  candidate.inputs = {from};
  candidate.outputs = {to};
  return candidate;
}

/// Images of quanta and the means of their channels.
struct Mean {
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t area = 0;
  bool nhwc = true;
  float scale = 1;
};

template <class T>
void mean_over_space(const Launch& launch, const Mean& mean) {
  const auto [images, channels, area, nhwc, scale] = mean;
  const T* x = launch.inputs[0].as<const T>();
  float* y = launch.floats_out(0);
  const float factor = scale / static_cast<float>(area);
  launch.team.for_ranges(images, 1, [&](cpu::Range range) {
    for (std::int64_t n = range.begin; n < range.end; ++n) {
      float* const sums = y + n * channels;
      const T* const image = x + n * channels * area;
      // Whole numbers, which f32 adds exactly up to 2^24.
      std::fill(sums, sums + channels, 0.0F);
      for (std::int64_t i = 0; i < area; ++i) {
        for (std::int64_t c = 0; c < channels; ++c) {
          sums[c] += static_cast<float>(image[nhwc ? i * channels + c : c * area + i]);
        }
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        sums[c] *= factor;
      }
    }
  });
}

/// Without these instructions oneDNN adds pairs of products in 16 bits, which overflow.
bool has_vnni() {
  return has_isa(dnnl::cpu_isa::avx512_core_vnni) || has_isa(dnnl::cpu_isa::avx2_vnni);
}

}  // namespace

std::vector<Candidate> quantize(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  const Shape& shape = graph.shape(node.inputs[0]);
  const double scale = node.attributes.as<QuantizeAttributes>().scale;
  return per_layout(
      activation_layouts(context, graph.type(node.inputs[0]), format), [&](const Layout& layout) {
        return conversion(context, graph, node, layout, quantized_layout(shape, format),
                          constant_scale(DNNL_ARG_TO, scale));
      });
}

std::vector<Candidate> dequantize(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const Shape& shape = graph.shape(node.inputs[0]);
  const double scale = node.attributes.as<DequantizeAttributes>().scale;
  return per_layout(activation_layouts(context, graph.type(node.outputs[0]), format),
                    [&](const Layout& layout) {
                      return conversion(context, graph, node, quantized_layout(shape, format),
                                        layout, constant_scale(DNNL_ARG_FROM, scale));
                    });
}

std::vector<Candidate> quantized_add(Context& context, const Graph& graph, const Node& node,
                                     DataFormat format) {
  const auto& attributes = node.attributes.as<QuantizedAddAttributes>();
  const Layout layout = quantized_layout(graph.shape(node.outputs[0]), format);
  const auto first = context.layouts.desc(graph.type(node.inputs[0]), layout);
  const auto second = context.layouts.desc(graph.type(node.inputs[1]), layout);
  const auto sum = context.layouts.desc(graph.type(node.outputs[0]), layout);
  dnnl::primitive_attr scaled = base_attributes();
  scaled.set_scales_mask(DNNL_ARG_SRC_0, 0);
  scaled.set_scales_mask(DNNL_ARG_SRC_1, 0);
  const dnnl::binary::primitive_desc desc(context.engine, algorithm::binary_add, first, second, sum,
                                          scaled);
  // The primitive scales its inputs only.
  const double output = attributes.output.scale;
  Candidate candidate =
      primitive_candidate(context, graph, node, desc,
                          {{DNNL_ARG_SRC_0, first, From::input, 0},
                           {DNNL_ARG_SRC_1, second, From::input, 1},
                           {DNNL_ARG_DST, sum, From::output, 0},
                           constant_scale(DNNL_ARG_SRC_0, attributes.first_scale / output),
                           constant_scale(DNNL_ARG_SRC_1, attributes.second_scale / output)});
  candidate.inputs = {layout, layout};
  candidate.outputs = {layout};
  return {candidate};
}

std::vector<Candidate> quantized_spatial_mean(Context& context, const Graph& graph,
                                              const Node& node, DataFormat format) {
  const TensorType& x = graph.type(node.inputs[0]);
  const Layout layout = quantized_layout(x.shape, format);
  const Mean mean{.images = x.shape[0],
                  .channels = x.shape[1],
                  .area = x.shape[2] * x.shape[3],
                  .nhwc = layout == nhwc(),
                  .scale = static_cast<float>(node.attributes.as<DequantizeAttributes>().scale)};
  const bool is_signed = x.dtype == DType::s8;
  Candidate candidate = vector_candidate(context, graph, node, {layout}, {row_major(2)},
                                         [mean, is_signed](const Launch& launch) {
                                           is_signed ? mean_over_space<std::int8_t>(launch, mean)
                                                     : mean_over_space<std::uint8_t>(launch, mean);
                                         });
  candidate.implementation = "quanta";
  return {candidate};
}

bool runs_on_quanta(const Graph& graph, const Node& node) {
  return node.op == &kQuantize ||
         std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
           return !graph.type(id).opaque && is_quantized(graph.type(id).dtype);
         });
}

Support supports_quantized(const Context& context, const Graph& graph, const Node& node) {
  if (node.op != &kQuantizedConv2d && node.op != &kQuantizedFullyConnected) {
    return {};
  }
  if (!has_vnni()) {
    return {.yes = false, .why_not = "onednn's int8 layers need a processor with VNNI"};
  }
  return supports_quantized_layer(context, graph, node);
}

Layout quantized_layout(const Shape& shape, DataFormat format) {
  if (shape.rank() != 4) {
    return row_major(shape.rank());
  }
  return format == DataFormat::nchw ? nchw() : nhwc();
}

}  // namespace bench::onednn
