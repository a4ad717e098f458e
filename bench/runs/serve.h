#pragma once

#include "bench/flags/flags.h"
#include "bench/runs/roles.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// Runs this process as a parameter server, until all workers have ended. Returns their exit
/// status. Throws Cancelled if the world fails.
int serve(const ParseResult& parsed, const Roles& roles, World& world);

}  // namespace bench
