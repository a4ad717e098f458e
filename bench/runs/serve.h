#pragma once

#include "bench/plan/device.h"
#include "bench/plan/settings.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// The device of a parameter server: one, with all processors of this process. Throws UsageError.
Device make_server_device(const RunSettings& settings);

/// Runs this process as a parameter server, until all workers have ended. Returns their exit
/// status. Throws Cancelled if the world fails.
int serve(const RunSettings& settings, Backend& backend, World& world);

}  // namespace bench
