#pragma once

#include <vector>

#include "kernels/check/canonical_reader.h"

namespace bench {

/// What of a node's inputs and outputs the check looks at.
struct Picks {
  std::vector<Pick> inputs;
  std::vector<Pick> outputs;
};

/// All, but of a large convolution or fully connected layer: there every so-manieth output channel,
/// or for the data gradient input channel, so that the reference has no more than about 10^8
/// multiply-adds to do, and no more than some million weights to hold.
Picks picks_of(const Graph& graph, const Node& node);

/// The node's attributes with the extents of what is looked at.
Attributes picked_attributes(const Graph& graph, const Node& node);

/// Whether one of the node's outputs is opaque: then what it reads is kept until the check's end.
bool makes_opaque(const Graph& graph, const Node& node);

/// The host memory that a check on so many threads takes beside what it looks at, in bytes, about.
struct PlanCheckMemory {
  /// Of the largest node.
  std::size_t node = 0;
  /// What is kept of what nodes read.
  std::size_t kept = 0;
  /// The largest tensor that is read as a whole, to take a part of it.
  std::size_t whole = 0;
  [[nodiscard]] std::size_t total() const {
    // Each of the three is mapped in huge pages, with one more to begin on their border.
    constexpr std::size_t kRounding = 3 * (std::size_t{4} << 20);
    return node + kept + whole + kRounding;
  }
};
PlanCheckMemory plan_check_memory(const Graph& graph, int threads);

}  // namespace bench
