#pragma once

#include <cstddef>
#include <vector>

#include "results/track/tracking.h"

namespace bench::results {

/// The cause by the revisions of the runs around the first run of a new level. The place is known
/// to about two runs. Thus the environment is blamed only if the three judged runs on either side,
/// and all runs between them, have one revision.
Cause cause_by_revisions(const TrackedSeries& one, std::size_t at);

/// Blames the machine for a change if a canary on it changed the same way within five days. For a
/// change of the newest run, an odd newest run of the canary is enough. Ignores what disturbed runs
/// may explain.
void blame_canaries(std::vector<TrackedSeries>& all);

/// Notes for each series that ended where its workload continued later: on another machine.
void tell_continuations(std::vector<TrackedSeries>& all);

/// "2026-01-31", UTC.
std::string date_text(std::int64_t ms);

}  // namespace bench::results
