#pragma once

#include <span>
#include <string>

#include "results/store/stored_run.h"

namespace bench::results {

/// What kept these runs of one workload from being faster (results/report/README.md). For example
/// "input: 23% of the time waited" or "the device, its memory: 61% of the least time". Not empty if
/// there are runs.
std::string held_back_by(std::span<const StoredRun* const> runs);

}  // namespace bench::results
