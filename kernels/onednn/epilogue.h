#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/backend.h"
#include "models/ops/activation.h"

namespace bench::onednn {

/// Whether the kernels of this backend run the node with the epilogue it has; always for a node
/// whose op carries none.
Support supports_epilogue(const Node& node);

/// Appends the activation of a convolution or a fully connected layer; nothing for none. Throws
/// InternalError for one that supports_epilogue refuses.
void append_activation(dnnl::post_ops& post_ops, ActivationKind kind);

}  // namespace bench::onednn
