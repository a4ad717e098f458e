#pragma once

#include <optional>

#include "kernels/cuda/context.h"

namespace bench::cuda {

/// A convolution, or a gradient of one, by our own kernels, its epilogue with it; none where it is
/// not depthwise with one filter per channel, or its filter is too large for them. The node's
/// inputs lie in the problem's order, behind them those of the epilogue; a filter's gradient is
/// f32.
std::optional<Candidate> depthwise_candidate(const Context& context, const Graph& graph,
                                             const Node& node, const ConvolutionProblem& problem,
                                             const Layout& layout);

}  // namespace bench::cuda
