#pragma once

#include <string>

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

/// The reason why a node, whose op this backend has, cannot run here; empty if it can.
std::string why_not(const Context& context, const Graph& graph, const Node& node);

}  // namespace bench::cuda
