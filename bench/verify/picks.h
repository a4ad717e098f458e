#pragma once

#include <vector>

#include "bench/verify/canonical_reader.h"

namespace bench {

/// The parts of a node's inputs and outputs that the check compares.
struct Picks {
  std::vector<Pick> inputs;
  std::vector<Pick> outputs;
};

/// Everything, except for a large convolution or fully connected layer. There it is every N-th
/// output channel, or input channel for the data gradient. This limits the reference to about 10^8
/// multiply-adds and some million weights.
Picks picks_of(const Graph& graph, const Node& node);

/// The node's attributes with the extents of the checked parts.
Attributes picked_attributes(const Graph& graph, const Node& node);

/// Returns true if one of the node's outputs is opaque. Its inputs are then kept until the check
/// ends.
bool makes_opaque(const Graph& graph, const Node& node);

/// The approximate host memory, in bytes, that a check needs in addition to the compared values.
struct PlanCheckMemory {
  /// For the largest node.
  std::size_t node = 0;
  /// For the inputs that are kept.
  std::size_t kept = 0;
  /// For the largest tensor that is read completely in order to take a part.
  std::size_t whole = 0;
  [[nodiscard]] std::size_t total() const {
    // Each of the three is mapped in huge pages, plus one more page for alignment.
    constexpr std::size_t kRounding = 3 * (std::size_t{4} << 20);
    return node + kept + whole + kRounding;
  }
};
PlanCheckMemory plan_check_memory(const Graph& graph, int threads);

}  // namespace bench
