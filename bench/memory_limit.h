#pragma once

#include <cstdint>
#include <string>

#include "bench/system_files.h"

namespace bench {

/// How much memory this process may still take.
struct MemoryLimit {
  std::int64_t bytes = 0;  ///< On top of what it holds now; never below 0.
  std::string set_by{};    ///< The file that sets it, for a sentence to the user.
};

/// The smallest of MemAvailable and, for each control group from the process's own up to the root
/// (versions 1 and 2), its limit less what is in use. File cache counts as free, swap does not:
/// a benchmark that swaps measures the disk. Unknown, with the reason, when the machine tells
/// nothing.
Captured<MemoryLimit> memory_limit(const SystemFiles& files);

}  // namespace bench
