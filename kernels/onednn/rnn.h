#pragma once

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// For the op `rnn` and its backward: why oneDNN cannot run the node, if it cannot.
Support supports_rnn(const Graph& graph, const Node& node);

}  // namespace bench::onednn
