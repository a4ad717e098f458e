#pragma once

#include <cstddef>
#include <span>

#include "kernels/backend.h"
#include "kernels/runtime/choices.h"

namespace bench {

/// Which of a node's candidates that share the layouts of number `chosen` takes least, by the
/// tuner; `chosen` where none can be timed.
std::size_t tuned(const Tuner& tuner, const Graph& graph, const Node& node,
                  std::span<const Candidate> candidates, std::size_t chosen);

}  // namespace bench
