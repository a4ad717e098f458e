#pragma once

#include <vector>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our kernels for a node of kConv2dBackwardWeights, if they support the shape and the processor
/// has the instructions. They are kernels/cpu/filter_gradient.h over channel blocks and
/// kernels/cpu/depthwise_gradient.h.
std::vector<Candidate> own_filter_gradients(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format);

}  // namespace bench::onednn
