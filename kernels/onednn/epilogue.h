#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/backend.h"
#include "models/ops/activation.h"

namespace bench::onednn {

/// Says if this backend's kernels can run the node with its epilogue; always if the op has none.
Support supports_epilogue(const Node& node);

/// Appends the activation of a convolution or a fully connected layer, if any. Throws InternalError
/// for an activation that supports_epilogue refuses.
void append_activation(dnnl::post_ops& post_ops, ActivationKind kind);

}  // namespace bench::onednn
