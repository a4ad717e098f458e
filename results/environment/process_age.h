#pragma once

#include <chrono>

#include "results/environment/system_files.h"

namespace bench {

/// Time since the kernel started this process, to a clock tick (10 ms as a rule).
Captured<std::chrono::nanoseconds> process_age(const SystemFiles& files);

}  // namespace bench
