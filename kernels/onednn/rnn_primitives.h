#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/onednn/context.h"
#include "models/ops/rnn.h"

namespace bench::onednn {

/// A layer's attributes and extents, and the type of its activations.
struct RnnLayer {
  /// `first` is the position of x among the node's inputs.
  RnnLayer(const Graph& graph, const Node& node, std::size_t first)
      : attributes(node.attributes.as<RnnAttributes>()),
        dtype(graph.type(node.inputs[first]).dtype),
        steps(graph.shape(node.inputs[first])[0]),
        batch(graph.shape(node.inputs[first])[1]),
        inputs(graph.shape(node.inputs[first])[2]),
        directions(graph.shape(node.inputs[first + 1])[0]),
        gates(graph.shape(node.inputs[first + 1])[1]),
        units(graph.shape(node.inputs[first + 1])[2]) {}

  /// oneDNN has one bias per gate, and one more for the hidden part of this GRU's candidate.
  [[nodiscard]] std::int64_t biases() const {
    return gates + (attributes.cell == RnnCell::gru_reset_after ? 1 : 0);
  }
  /// True if the bias b_x is what oneDNN reads.
  [[nodiscard]] bool plain_bias() const {
    return !attributes.hidden_bias && biases() == gates && attributes.forget_bias == 0;
  }
  [[nodiscard]] std::int64_t x_elements() const { return steps * batch * inputs; }
  [[nodiscard]] std::int64_t y_elements() const { return steps * batch * directions * units; }
  [[nodiscard]] std::int64_t state_elements() const { return directions * batch * units; }
  [[nodiscard]] std::int64_t bias_elements() const { return directions * biases() * units; }

  RnnAttributes attributes;
  DType dtype;
  std::int64_t steps;
  std::int64_t batch;
  std::int64_t inputs;
  std::int64_t directions;
  std::int64_t gates;
  std::int64_t units;
};

/// oneDNN's primitive for the layer, with weights in the layout that oneDNN prefers. Empty if
/// oneDNN cannot run the layer. If `training`, it writes a workspace for the backward pass.
dnnl::primitive_desc_base rnn_forward_primitive(const Context& context, const RnnLayer& layer,
                                                bool training);
/// Its backward pass, with gradients in f32.
dnnl::primitive_desc_base rnn_backward_primitive(const Context& context, const RnnLayer& layer);

}  // namespace bench::onednn
