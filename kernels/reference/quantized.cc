#include "models/ops/quantized.h"

#include "kernels/reference/makers.h"
#include "kernels/reference/operations.h"

namespace bench::reference {
namespace {

// The results are real numbers over the output's scale; storing rounds them and cuts them off.

/// The real-number op of a quantised layer. It reads x and w as quanta: whole numbers, whose sums
/// are exact in double.
Operation quanta_operation(Operation (*plain)(const Graph&, const Node&), const Graph& graph,
                           const Node& node, const Attributes& attributes) {
  Node layer = node;
  layer.attributes = attributes;
  layer.inputs.resize(2);
  return plain(graph, layer);
}

struct LayerScales {
  double input = 1;
  double residual = 1;
  double output = 1;
};

/// `sums` of a layer, then scales, bias, residual and activation. Inputs: x, w, weight scales, then
/// the epilogue's.
Operation finish(Operation sums, const Epilogue& epilogue, const LayerScales& scales) {
  return {.compute =
              [sums = std::move(sums.compute), epilogue, scales](
                  std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
                sums(in, out, crew);
                const Shape& shape = out[0].shape;
                for (std::int64_t n = 0; n < shape[0]; ++n) {
                  for (std::int64_t c = 0; c < shape[1]; ++c) {
                    Array y = out[0].plane(n, c);
                    y *= scales.input * in[2][c];
                    if (epilogue.bias) {
                      y += in[3][c];
                    }
                    if (epilogue.residual) {
                      y += scales.residual * in.back().plane(n, c);
                    }
                    y = y.unaryExpr([&](double x) { return activate(epilogue.activation, x); });
                    y /= scales.output;
                  }
                }
              },
          .scratch_elements = sums.scratch_elements};
}

}  // namespace

Operation quantize(const Graph&, const Node& node) {
  const double scale = node.attributes.as<QuantizeAttributes>().scale;
  return {.compute = [scale](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].array() = in[0].array() / scale;
  }};
}

Operation dequantize(const Graph&, const Node& node) {
  const double scale = node.attributes.as<DequantizeAttributes>().scale;
  return {.compute = [scale](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].array() = in[0].array() * scale;
  }};
}

Operation quantized_spatial_mean(const Graph& graph, const Node& node) {
  const double scale = node.attributes.as<DequantizeAttributes>().scale;
  return {.compute = [mean = spatial_mean(graph, node).compute, scale](std::span<const Tensor> in,
                                                                       std::span<const Tensor> out,
                                                                       const Crew& crew) {
    mean(in, out, crew);
    out[0].array() *= scale;
  }};
}

Operation quantized_conv2d(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<QuantizedConv2dAttributes>();
  return finish(quanta_operation(conv2d, graph, node, attributes.conv), attributes.conv.epilogue,
                {.input = attributes.input_scale,
                 .residual = attributes.residual_scale,
                 .output = attributes.output.scale});
}

Operation quantized_fully_connected(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<QuantizedFullyConnectedAttributes>();
  return finish(quanta_operation(fully_connected, graph, node, attributes.layer),
                attributes.layer.epilogue,
                {.input = attributes.input_scale, .output = attributes.output.scale});
}

Operation quantized_add(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<QuantizedAddAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew&) {
    out[0].array() =
        (attributes.first_scale * in[0].array() + attributes.second_scale * in[1].array()) /
        attributes.output.scale;
  }};
}

}  // namespace bench::reference
