#pragma once

#include <string>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// A convolution that has taken in the batch norm behind it. With s = gamma / sqrt(variance +
/// epsilon) per output channel, its weight is the old one times s, and its bias is
/// beta + (old bias - mean) * s. Variables by name; empty for one that there is not.
struct FoldedBatchNorm {
  std::string weight = {};
  std::string old_bias = {};
  std::string gamma = {};
  std::string beta = {};
  std::string mean = {};
  std::string variance = {};
  double epsilon = 0;
  /// The new variable, of the output channels' shape.
  std::string bias = {};
};

struct FoldedGraph {
  Graph graph;
  std::vector<FoldedBatchNorm> folds;
};

/// For inference: each convolution whose output goes, with or without a bias, into one batch norm
/// with given statistics and nowhere else becomes a convolution with a bias. The weight keeps its
/// name; the variables that the batch norm had are gone. The rest stays.
FoldedGraph fold_batch_norm(const Graph& graph);

}  // namespace bench
