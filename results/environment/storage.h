#pragma once

#include <string>

#include "results/environment/system_files.h"
#include "results/record/conditions.h"

namespace bench {

/// Describes the storage of the absolute path `folder`: its mount in /proc/self/mountinfo, and the
/// disk of that mount.
Captured<results::Storage> capture_storage(const SystemFiles& files, const std::string& folder);

}  // namespace bench
