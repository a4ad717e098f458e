#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/base/philox.h"
#include "models/base/watch.h"
#include "models/ir/graph.h"

namespace bench {

/// First values in canonical order, by the variable's name.
using InitialValues = std::map<std::string, std::vector<float>>;

/// Numbers of a variable that one thread draws at a time: a whole number of a stream's blocks.
inline constexpr std::size_t kDrawnAtOnce = RandomStream::kBlockWords << 16U;

/// The first values of all variables of a graph, drawn by as many threads as the machine has. Those
/// of a variable depend on the seed and its name, shape and initializer alone, so that device,
/// layout, placement and threads cannot change them. `watch` hears of the
/// parts as they are drawn, and of the end.
InitialValues initial_values(const Graph& graph, std::uint64_t seed, const Watch& watch = {});

}  // namespace bench
