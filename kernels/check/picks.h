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

/// The host memory a check takes beside what it looks at, in bytes, about: that of the largest node
/// of a graph.
std::size_t plan_check_bytes(const Graph& graph);

}  // namespace bench
