#pragma once

#include <optional>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our Winograd kernel (kernels/cpu/winograd.h) as a candidate of a convolution or a data gradient.
/// Empty if it cannot run the node: it needs f32, AVX-512, 3x3 filters with stride 1, and whole
/// blocks of 16 channels.
std::optional<Candidate> winograd_forward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat format);
std::optional<Candidate> winograd_backward_data(Context& context, const Graph& graph,
                                                const Node& node, DataFormat format);

}  // namespace bench::onednn
