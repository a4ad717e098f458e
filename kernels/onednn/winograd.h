#pragma once

#include <optional>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our Winograd kernels (kernels/cpu/winograd.h) as candidates of a convolution and its gradients.
/// Empty if they cannot run the node: they need f32, AVX-512, 3x3 filters with stride 1, and whole
/// blocks of 16 channels.
std::optional<Candidate> winograd_forward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat format);
std::optional<Candidate> winograd_backward_data(Context& context, const Graph& graph,
                                                const Node& node, DataFormat format);
std::optional<Candidate> winograd_backward_weights(Context& context, const Graph& graph,
                                                   const Node& node, DataFormat format);

}  // namespace bench::onednn
