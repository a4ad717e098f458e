#pragma once

#include "kernels/backend.h"
#include "kernels/optimizer.h"
#include "variable_mgmt/world/world.h"

namespace bench {

struct ServerSettings {
  OptimizerSettings optimizer = {};
  /// True: applies the gradients of a step once those of all workers are there, in the order of
  /// ranks; each is a separate update, as in tf_cnn_benchmarks. False: applies gradients in the
  /// order of their arrival.
  bool synchronous = true;
};

/// Serves variables to the world's workers, whose ServerLinks call it, until every worker has
/// ended. Its variables and slots are in the memory of `backend`, which must be the host's. Weight
/// decay uses the variables that the worker computed with. Waits. Returns the largest exit status
/// of the workers. Throws Cancelled if the world fails.
int serve_variables(World& world, Backend& backend, const ServerSettings& settings);

}  // namespace bench
