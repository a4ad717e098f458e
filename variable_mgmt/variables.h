#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/base/philox.h"
#include "models/base/watch.h"
#include "models/ir/graph.h"

namespace bench {

/// First values in canonical order, by the name of the variable.
using InitialValues = std::map<std::string, std::vector<float>>;

/// How many numbers of a variable a thread draws at a time: a whole number of a stream's blocks.
inline constexpr std::size_t kDrawnAtOnce = RandomStream::kBlockWords << 16U;

/// Draws the first values of all variables of a graph, with as many threads as the machine has. A
/// variable's values depend only on the seed and on its name, shape and initializer, not on device,
/// layout, placement or threads. `watch` is called for each drawn part and at the end.
InitialValues initial_values(const Graph& graph, std::uint64_t seed, const Watch& watch = {});

}  // namespace bench
