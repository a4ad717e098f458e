#pragma once

#include <span>

#include "results/store/stored_run.h"

namespace bench::results {

/// True if other programs, the hypervisor or throttling took time from the run.
bool is_disturbed(const StoredRun& run);

/// True if a quarter of the runs or more were disturbed, so that their speed may be too low.
bool are_disturbed(std::span<const StoredRun* const> runs);

}  // namespace bench::results
