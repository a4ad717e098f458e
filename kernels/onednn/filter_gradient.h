#pragma once

#include <vector>

#include "kernels/onednn/context.h"
#include "kernels/onednn/vector_kernel.h"

namespace bench::onednn {

/// Our kernels for a node of kConv2dBackwardWeights, if they support the shape and the processor
/// has the instructions. They are kernels/cpu/filter_gradient.h and winograd_gradient.h over
/// channel blocks, and depthwise_gradient.h.
std::vector<Candidate> own_filter_gradients(Context& context, const Graph& graph, const Node& node,
                                            DataFormat format);

/// Adds the bias gradient, a separate pass over dy after the filters' gradient, to a candidate of
/// kConv2dBackwardWeights. Both passes use the same workspace.
void add_bias_gradient(const Context& context, const cpu::ChannelView& dy, DType dtype,
                       Candidate& candidate);
void launch_bias_gradient(const Launch& launch, const cpu::ChannelView& dy, DType dtype);

}  // namespace bench::onednn
