#pragma once

#include <string>

#include "bench/host/system_files.h"
#include "results/conditions.h"

namespace bench {

/// On what the absolute path `folder` lies: the mount of /proc/self/mountinfo that holds it, and
/// the disk behind that.
Captured<results::Storage> capture_storage(const SystemFiles& files, const std::string& folder);

}  // namespace bench
