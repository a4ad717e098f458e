#pragma once

#include <cstddef>
#include <vector>

#include "results/track/tracking.h"

namespace bench::results {

/// By the revisions of the nights around the first one of a new level: the place is known to two
/// nights or so, thus the environment is blamed only where three on either side have one revision.
Cause cause_by_revisions(const NightlySeries& series, std::size_t at);

/// Gives a change to the machine where a canary on the same machine changed the same way within
/// five nights, or is odd tonight where the change is tonight's.
void blame_canaries(std::vector<TrackedSeries>& all);

/// Says of each series that ended where its work went on: on another machine, from later on.
void tell_continuations(std::vector<TrackedSeries>& all);

/// "2026-01-31", UTC.
std::string date_text(std::int64_t ms);

}  // namespace bench::results
