#pragma once

#include <cstdint>
#include <string>

#include "bench/host/system_files.h"

namespace bench {

/// How much memory this process may still take for what is planned.
struct MemoryLimit {
  std::int64_t bytes = 0;  ///< On top of what it holds now; never below 0.
  std::string set_by{};    ///< The file or limit that sets it, for a sentence to the user.
};

/// What any run takes beside its plan: libraries' and kernels' code, lists, buffers of stdio. The
/// lists of a plan with many layers are larger (batch_choice.cc).
inline constexpr std::int64_t kUnplannedBytes = std::int64_t{32} << 20;

/// The smallest of MemAvailable; of each control group's limit, from the process's own up to the
/// root (versions 1 and 2), less what is in use; and of the process's limits on its address space
/// and data (ulimit -v, ulimit -d) less what it has and its threads will set aside; each less
/// kUnplannedBytes. File cache counts as free but for the pages of this program, swap does not:
/// a benchmark that swaps measures the disk. Unknown, with the reason, when the machine tells
/// nothing.
Captured<MemoryLimit> memory_limit(const SystemFiles& files);

}  // namespace bench
