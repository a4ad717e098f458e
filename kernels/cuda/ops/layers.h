#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/cuda/device/context.h"
#include "models/ir/op.h"

namespace bench::cuda {

/// The reason why a convolution or fully connected layer, or a gradient of one, cannot run with its
/// epilogue or bias. Empty if it can, and for all other ops.
std::string why_no_layer(const Context& context, const Graph& graph, const Node& node);

/// The same for the op `rnn` and its backward.
std::string why_no_rnn(const Context& context, const Graph& graph, const Node& node);

/// The extents of a value of rank 4, as in ConvolutionProblem.
std::array<std::int64_t, 4> extents_of(const Shape& shape);
/// The ways to run the problem. Deterministic choices come first: an estimate never chooses another
/// kind, only timing does.
std::vector<ConvolutionChoice> convolution_choices(const Context& context,
                                                   const ConvolutionProblem& problem);
/// The first compute capability on which cuDNN has layers in bf16.
inline constexpr int kFirstWithBfloat16 = 80;
/// The relative distance between the estimates of choices, which keeps their order.
inline constexpr double kNextChoice = 0.01;

/// How a library computes a layer.
struct LayerMethod {
  DType dtype = DType::f32;
  bool tensor_cores = false;
  /// Written and read once by the library; mostly tensors in another order.
  std::size_t workspace_bytes = 0;
};

/// Estimated time of work with multiply-adds: the longer of the arithmetic and the memory time.
double layer_seconds(const Context& context, const Work& work, const LayerMethod& method);

/// The reason why a convolution should not be joined with its batch norm: without an engine for the
/// statistics, the two are faster apart. Empty if it should.
std::string why_no_batch_norm(const Context& context, const Graph& graph, const Node& node);
/// The candidates of a convolution with its batch norm.
std::vector<Candidate> conv2d_batch_norm(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format);

/// A fully connected layer, or a gradient of one, as a matrix product.
ProductProblem product_of(const Graph& graph, const Node& node);

}  // namespace bench::cuda
