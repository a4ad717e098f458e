#pragma once

#include <string>

#include "kernels/cuda/context.h"

namespace bench::cuda {

/// Why a convolution or fully connected layer, or a gradient of one, cannot run with the epilogue
/// or bias it has; empty where it can, and for all other ops.
std::string why_no_layer(const Context& context, const Graph& graph, const Node& node);

/// How a library computes a layer.
struct LayerMethod {
  DType dtype = DType::f32;
  bool tensor_cores = false;
  /// Written and read once by the library, mostly tensors in another order.
  std::size_t workspace_bytes = 0;
};

/// Estimated time of a node with multiply-adds: that of the arithmetic or that of its memory,
/// whichever is longer.
double layer_seconds(const Context& context, const Graph& graph, const Node& node,
                     const LayerMethod& method);

/// What stands for a fully connected layer, or a gradient of one, as a matrix product.
ProductProblem product_of(const Graph& graph, const Node& node);

}  // namespace bench::cuda
