#pragma once

#include "models/ir/graph.h"

namespace bench {

/// What a network learns, as it is kept.
enum class Weights16 : std::uint8_t {
  /// Each step casts the filters from f32 variables, so that small updates are not lost.
  cast,
  /// The filters themselves have 16 bits: for inference.
  stored,
};

/// Whether mixed precision turns tensors of that type into 16 bits: activations and filters, but no
/// vectors, which are biases and batch norm's.
bool is_narrowed(const TensorType& type);

/// The graph computing in `dtype`, bf16 or f16: images, activations and filters have 16 bits each.
/// What is summed over many elements stays f32: the statistics and parameters of batch norm,
/// biases, losses, moving averages, and with the gradient rules everything a network learns.
/// Outputs stay f32 by a cast. Micikevicius et al., arXiv:1710.03740. Runs before fusion and the
/// backward pass.
Graph mixed_precision(const Graph& graph, DType dtype, Weights16 weights);

}  // namespace bench
