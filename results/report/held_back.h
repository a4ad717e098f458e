#pragma once

#include <span>
#include <string>

#include "results/store/stored_run.h"

namespace bench::results {

/// What kept these runs of one work from being faster, as results/report/README.md defines it:
/// "input: 23% of the time waited", "the device, its memory: 61% of the least time". Not empty
/// where there are runs.
std::string held_back_by(std::span<const StoredRun* const> runs);

}  // namespace bench::results
