#pragma once

#include <string>

#include "bench/host/system_files.h"
#include "results/conditions.h"

namespace bench {

/// Describes the storage of the absolute path `folder`: its mount in /proc/self/mountinfo, and the
/// disk of that mount.
Captured<results::Storage> capture_storage(const SystemFiles& files, const std::string& folder);

}  // namespace bench
