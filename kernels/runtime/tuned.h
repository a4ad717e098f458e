#pragma once

#include <cstddef>
#include <span>

#include "kernels/backend.h"
#include "kernels/runtime/choices.h"

namespace bench {

/// Returns true if the node reads a value whose memory only its producer knows. Such a node cannot
/// be timed alone.
bool reads_opaque(const Graph& graph, const Node& node);

/// The fastest of a node's candidates with the same layouts as candidate `chosen`, by the tuner;
/// `chosen` if none can be timed.
std::size_t tuned(const Tuner& tuner, const Graph& graph, const Node& node,
                  std::span<const Candidate> candidates, std::size_t chosen);

}  // namespace bench
