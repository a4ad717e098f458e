#pragma once

#include <vector>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our own kernels for a node of kConv2dBackwardWeights, where they know the shape and the
/// processor has the instructions: kernels/cpu/filter_gradient.h over channel blocks,
/// kernels/cpu/depthwise_gradient.h.
std::vector<Candidate> own_filter_gradients(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format);

}  // namespace bench::onednn
