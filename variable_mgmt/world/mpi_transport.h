#pragma once

#include <memory>
#include <string>

#include "variable_mgmt/world/launch.h"
#include "variable_mgmt/world/transport.h"

namespace bench {

/// Opens the plug-in for the launcher's MPI library and initializes MPI. Waits for the other
/// processes. `folder` contains the plug-ins. Throws UsageError if the plug-in is missing, or if
/// MPI finds another number of processes than the launcher started; DeviceError if MPI fails.
std::unique_ptr<Transport> open_mpi(const Launch& launch, const std::string& folder);

}  // namespace bench
