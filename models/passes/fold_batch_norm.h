#pragma once

#include <string>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// A convolution that absorbed the batch norm after it. Let s = gamma / sqrt(variance + epsilon)
/// per output channel. The new weight is the old one times s; the new bias is beta + (old bias -
/// mean) * s. Variables are given by name; empty if absent.
struct FoldedBatchNorm {
  std::string weight = {};
  std::string old_bias = {};
  std::string gamma = {};
  std::string beta = {};
  std::string mean = {};
  std::string variance = {};
  double epsilon = 0;
  /// The new variable, with one element per output channel.
  std::string bias = {};
};

struct FoldedGraph {
  Graph graph;
  std::vector<FoldedBatchNorm> folds;
};

/// Folds batch norms into convolutions, for inference. It applies to each convolution whose only
/// reader, with or without a bias in between, is a batch norm with given statistics. The result is
/// a convolution with a bias. The weight keeps its name; the batch norm's variables are removed.
/// Everything else is unchanged.
FoldedGraph fold_batch_norm(const Graph& graph);

}  // namespace bench
