#pragma once

#include <optional>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our own kernel (kernels/cpu/filter_gradient.h) for a node of kConv2dBackwardWeights over
/// channel-blocked tensors, where it knows the shape and the processor has the instructions.
std::optional<Candidate> blocked_filter_gradient(Context& context, const Graph& graph,
                                                 const Node& node);

}  // namespace bench::onednn
