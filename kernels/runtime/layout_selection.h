#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

/// The choice of one candidate per node so that kernels plus reorders cost least. Layouts, nodes
/// and values are plain indices here.
struct LayoutProblem {
  /// As an input's layout: any will do.
  static constexpr int kAny = -1;

  struct Choice {
    std::vector<int> inputs;
    std::vector<int> outputs;
    double seconds = 0;
  };
  struct Node {
    std::vector<int> inputs;
    std::vector<int> outputs;
    std::vector<Choice> choices;
  };
  struct Value {
    /// Layouts a value without a producer may have; empty when a node produces it.
    std::vector<int> free_layouts;
    /// Another value in whose layout this one must be delivered too (a gradient in its variable's).
    int deliver_as = -1;
  };

  std::vector<Node> nodes;
  std::vector<Value> values;
  /// The layouts from which the search starts, one start each.
  std::vector<int> starts;
  std::function<double(int value, int from, int to)> reorder_seconds;
};

struct LayoutChoice {
  /// Index of the candidate, per node.
  std::vector<int> chosen;
  /// The layout in which each value is produced (or held, for one without a producer).
  std::vector<int> layout_of;
  double seconds = 0;
};

/// Starts once from each layout (every node takes the candidate closest to it) and improves single
/// decisions until none helps; returns the best of all starts. Deterministic.
LayoutChoice select_layouts(const LayoutProblem& problem);

}  // namespace bench
