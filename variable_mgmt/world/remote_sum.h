#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "variable_mgmt/collectives/collective.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// Makes a communicator that adds the gradients of the towers of all processes. If `options.spec`
/// is nccl, NCCL does, and waits at most `nccl_timeout`. Otherwise the spec must be mpi or empty.
/// Then each tower first adds a slice over the towers of its process. The world's thread adds these
/// sums over the processes: with mpi, in f32 or f64, by MPI's all-reduce, whose order of additions
/// is unknown. Without a spec, processes exchange parts of the sums. Each process adds one part in
/// the order of ranks, and sends the sum to all. So the order of an element's additions does not
/// depend on its place in a buffer view.
///
/// `options` describes the towers of this process. All processes must have the same number of
/// towers and start the same views in the same order. `nccl_id` is an ID for this collective alone.
/// If it is empty, rank 0 makes one, which waits for all workers. `world` must outlive the
/// collective.
std::unique_ptr<Collective> make_world_collective(
    World& world, CollectiveOptions options,
    std::chrono::milliseconds nccl_timeout = std::chrono::minutes(1), std::string nccl_id = "");

}  // namespace bench
