#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/cuda/context.h"
#include "models/ir/op.h"

namespace bench::cuda {

/// Why a convolution or fully connected layer, or a gradient of one, cannot run with the epilogue
/// or bias it has; empty where it can, and for all other ops.
std::string why_no_layer(const Context& context, const Graph& graph, const Node& node);

/// As ConvolutionProblem has them, of a value of rank 4.
std::array<std::int64_t, 4> extents_of(const Shape& shape);
/// The ways to run it: those that give the same bits each time come first, since no estimate, only
/// time, chooses another one.
std::vector<ConvolutionChoice> convolution_choices(const Context& context,
                                                   const ConvolutionProblem& problem);
/// What the estimates of choices are apart, so that their order is kept.
inline constexpr double kNextChoice = 0.01;

/// How a library computes a layer.
struct LayerMethod {
  DType dtype = DType::f32;
  bool tensor_cores = false;
  /// Written and read once by the library, mostly tensors in another order.
  std::size_t workspace_bytes = 0;
};

/// Estimated time of work with multiply-adds: that of the arithmetic or that of its memory,
/// whichever is longer.
double layer_seconds(const Context& context, const Work& work, const LayerMethod& method);

/// Why a convolution is not to be had with its batch norm: where its statistics come from no
/// engine, the two are better apart. Empty where it is.
std::string why_no_batch_norm(const Context& context, const Graph& graph, const Node& node);
/// The candidates of a convolution with its batch norm.
std::vector<Candidate> conv2d_batch_norm(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format);

/// What stands for a fully connected layer, or a gradient of one, as a matrix product.
ProductProblem product_of(const Graph& graph, const Node& node);

}  // namespace bench::cuda
