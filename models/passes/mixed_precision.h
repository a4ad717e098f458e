#pragma once

#include "models/ir/graph.h"

namespace bench {

/// How the variables that a network learns are stored.
enum class Weights16 : std::uint8_t {
  /// Each step casts the filters from f32 variables, so that small updates are not lost.
  cast,
  /// The filters themselves have 16 bits: for inference.
  stored,
};

/// Returns true if mixed precision stores tensors of that type in 16 bits. That holds for
/// activations and filters, but not for vectors, which are biases and batch norm's variables.
bool is_narrowed(const TensorType& type);

/// The graph computing in `dtype`, bf16 or f16: images, activations and filters have 16 bits each.
/// Sums over many elements stay in f32: batch norm's statistics and parameters, biases, losses and
/// moving averages. With the gradient rules, everything a network learns is f32 too. A cast keeps
/// outputs in f32. Micikevicius et al., arXiv:1710.03740. Runs before fusion and the backward pass.
Graph mixed_precision(const Graph& graph, DType dtype, Weights16 weights);

}  // namespace bench
