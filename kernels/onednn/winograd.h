#pragma once

#include <memory>
#include <optional>

#include "kernels/onednn/context.h"

namespace bench::onednn {

/// Our Winograd kernels (kernels/cpu/winograd.h) as candidates of a convolution and its gradients.
/// Empty if they cannot run the node: they need 3x3 filters with stride 1 and whole blocks of
/// channels. In f32 they need AVX2, in bf16 AVX-512. With AMX they are not offered in bf16. Filters
/// that the graph does not change are held with their transforms.
std::optional<Candidate> winograd_forward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat format);
std::optional<Candidate> winograd_backward_data(Context& context, const Graph& graph,
                                                const Node& node, DataFormat format);
std::optional<Candidate> winograd_backward_weights(Context& context, const Graph& graph,
                                                   const Node& node, DataFormat format);

/// A kernel that writes filters in LayoutTable::winograd_filters(context.block). `reorder` writes
/// the part before the transforms.
std::unique_ptr<Kernel> with_winograd_transforms(Context& context, std::unique_ptr<Kernel> reorder,
                                                 const TensorType& filters);

}  // namespace bench::onednn
