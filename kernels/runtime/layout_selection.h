#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

/// The choice of one candidate per node that minimises the cost of kernels plus reorders. Layouts,
/// nodes and values are plain indices here.
struct LayoutProblem {
  /// For an input's layout: any layout is acceptable.
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
    /// Layouts that a value without a producer may have; empty if a node produces it.
    std::vector<int> free_layouts;
    /// Another value in whose layout this one must also be delivered (a gradient in its
    /// variable's).
    int deliver_as = -1;
  };

  std::vector<Node> nodes;
  std::vector<Value> values;
  /// The layouts from which the search starts, one start each.
  std::vector<int> starts;
  /// Searches longer, in particular for plans that mix layouts.
  bool thorough = false;
  std::function<double(int value, int from, int to)> reorder_seconds;
};

struct LayoutChoice {
  /// Index of the candidate, per node.
  std::vector<int> chosen;
  /// The layout in which each value is produced (or held, if it has no producer).
  std::vector<int> layout_of;
  double seconds = 0;
};

/// Starts once from each layout (every node takes the candidate closest to it) and improves single
/// decisions until none helps. A thorough search also starts from the fastest candidates and from
/// random ones, and improves series of decisions. Returns the best result of all starts.
/// Deterministic.
LayoutChoice select_layouts(const LayoutProblem& problem);

}  // namespace bench
