#pragma once

#include <cstdint>
#include <string>

#include "results/environment/system_files.h"

namespace bench {

/// The memory that this process may still allocate for its plan.
struct MemoryLimit {
  std::int64_t bytes = 0;  ///< In addition to the current use; never below 0.
  std::string set_by{};    ///< The file or limit that sets it, for a sentence to the user.
};

/// The need of any run in addition to its plan: code of libraries and kernels, lists, stdio
/// buffers. The lists of a plan with many layers are larger (batch_choice.cc).
inline constexpr std::int64_t kUnplannedBytes = std::int64_t{32} << 20;

/// The smallest of these, each less kUnplannedBytes:
///
/// - MemAvailable;
/// - the limit of each control group minus its use, from the process's own up to the root (versions
///   1 and 2);
/// - the process's limits on address space and data (ulimit -v, ulimit -d), minus its use and what
///   its threads will reserve.
///
/// File cache counts as free, except for the pages of this program. Swap does not: a benchmark that
/// swaps measures the disk. Unknown, with the reason, if the machine reports no limit.
Captured<MemoryLimit> memory_limit(const SystemFiles& files);

}  // namespace bench
