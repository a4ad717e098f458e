#pragma once

#include <string>

#include "results/environment/system_files.h"
#include "results/record/record.h"

namespace bench {

/// The system's settings for this process: priority, scheduling, limits, address layout.
results::Process capture_process(const SystemFiles& files);

/// The SHA-256 of this program's file in hexadecimal digits. The first call reads
/// the whole file.
const Captured<std::string>& program_sha256();

}  // namespace bench
