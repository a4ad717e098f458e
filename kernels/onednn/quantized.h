#pragma once

#include "kernels/onednn/context.h"

namespace bench::onednn {

// Nodes that read or write u8 and s8. All activations are NHWC, whose channels oneDNN's int8
// kernels read in fours. If the run asks for NCHW, oneDNN has only its slow reference.

/// Returns true if the node reads quanta or is kQuantize.
bool runs_on_quanta(const Graph& graph, const Node& node);
/// For a node that runs on quanta. No if the processor lacks the instructions or oneDNN has only
/// its slow reference.
Support supports_quantized(const Context& context, const Graph& graph, const Node& node);

/// The only layout of a quantised activation.
Layout quantized_layout(const Shape& shape, DataFormat format);

// quantized_layers.cc
/// Why the convolution or fully connected layer cannot run fast; yes when it can.
Support supports_quantized_layer(const Context& context, const Graph& graph, const Node& node);

}  // namespace bench::onednn
