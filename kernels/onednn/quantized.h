#pragma once

#include "kernels/onednn/context.h"

namespace bench::onednn {

// Nodes that read or make u8 and s8. All activations are NHWC, whose channels oneDNN's int8 kernels
// read in fours, unless the run asks for NCHW, for which oneDNN has its slow reference only.

/// Whether the node belongs here: it reads quanta or makes some.
bool runs_on_quanta(const Graph& graph, const Node& node);
/// What makes the candidates of an op that passes quanta on where it reads some; null where it has
/// no such form here.
Maker* mover_of_quanta(const OpDef* op);
/// For a node that belongs here. No where the processor lacks the instructions or oneDNN has its
/// slow reference only.
Support supports_quantized(const Context& context, const Graph& graph, const Node& node);

/// The one layout of a quantised activation.
Layout quantized_layout(const Shape& shape, DataFormat format);

// quantized_layers.cc
/// Why the convolution or fully connected layer cannot run fast; yes when it can.
Support supports_quantized_layer(const Context& context, const Graph& graph, const Node& node);

// quantized_movers.cc
Maker join_quanta;
Maker shuffle_quanta;
Maker pad_quanta;
Maker flatten_quanta;

}  // namespace bench::onednn
