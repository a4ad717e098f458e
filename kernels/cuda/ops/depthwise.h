#pragma once

#include <optional>

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

/// A convolution with its epilogue, or a gradient of one, by our kernels. Empty if it is not
/// depthwise with one filter per channel, or if its filter is too large for them. The node's inputs
/// have the problem's order and are followed by those of the epilogue. A filter gradient is f32.
std::optional<Candidate> depthwise_candidate(const Context& context, const Graph& graph,
                                             const Node& node, const ConvolutionProblem& problem,
                                             const Layout& layout);

}  // namespace bench::cuda
