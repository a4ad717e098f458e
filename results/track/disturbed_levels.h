#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/track/tracking.h"

namespace bench::results {

/// The points that tracking judges: all but those of disturbed runs that are further than `margin`
/// from the median of their neighbours.
std::vector<std::size_t> points_to_judge(const RunSeries& series, double margin,
                                         const DisturbancesOfRun& disturbances);

/// What disturbed the runs of a point, in a phrase; empty if too few of them were disturbed.
std::string disturbance_of(const SeriesPoint& point, const DisturbancesOfRun& disturbances);

/// Gives the verdict `disturbed` to changes that disturbed runs may explain. Too many runs next to
/// such a change were disturbed, and the others do not confirm it. Otherwise the quiet runs give
/// the change its size. Also notes what disturbed a suspect newest run.
void judge_disturbances(Tracked& tracked, const DisturbancesOfRun& disturbances);

}  // namespace bench::results
