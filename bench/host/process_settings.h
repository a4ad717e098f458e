#pragma once

#include <string>

#include "bench/host/system_files.h"
#include "results/record.h"

namespace bench {

/// How the system treats this process: priority, scheduling, limits, address layout.
results::Process capture_process(const SystemFiles& files);

/// SHA-256 of this program's file, in hexadecimal digits. Reads it whole.
Captured<std::string> program_sha256();

}  // namespace bench
