#pragma once

#include <memory>

#include "variable_mgmt/collectives/collective.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// Makes a communicator that adds the gradients of the towers of all processes. First, each tower
/// adds a slice over the towers of its process. Then the world's thread exchanges parts of these
/// sums with the other processes. Each process adds one part in the order of ranks, and sends the
/// sum to all. So the order of an element's additions does not depend on its place in a buffer
/// view.
///
/// `options` describes the towers of this process; its `spec` must be empty. All processes must
/// have equally many towers and start the same views in the same order. `world` must outlive the
/// collective.
std::unique_ptr<Collective> make_world_collective(World& world, CollectiveOptions options);

}  // namespace bench
