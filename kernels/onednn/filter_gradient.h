#pragma once

#include <optional>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our own kernel (kernels/cpu/filter_gradient.h) for the filter gradient of a 3x3 convolution over
/// channel-blocked tensors, where there is one and it is not slower than oneDNN's.
std::optional<Candidate> blocked_filter_gradient(Context& context, const Graph& graph,
                                                 const Node& node);

}  // namespace bench::onednn
