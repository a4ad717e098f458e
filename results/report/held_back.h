#pragma once

#include <span>
#include <string>

#include "results/store/stored_run.h"

namespace bench::results {

/// What kept these runs of one workload from being faster (results/report/README.md). For example
/// "input: steps waited 23.0% of the time" or "device memory: 61.0% of the minimum time". Not empty
/// if there are runs.
std::string held_back_by(std::span<const StoredRun* const> runs);

}  // namespace bench::results
