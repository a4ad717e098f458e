#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/track/tracking.h"

namespace bench::results {

/// The points that tracking judges: without those of disturbed runs that are more than `far`
/// (relative) from the median of the 20 points on either side. If none remains, all points.
std::vector<std::size_t> points_to_judge(const RunSeries& series, double far,
                                         const DisturbancesOfRun& disturbances);

/// What disturbed the runs of a point, in a phrase; empty if too few of them were disturbed.
std::string disturbance_of(const SeriesPoint& point, const DisturbancesOfRun& disturbances);

/// Gives the verdict `disturbed` to changes that disturbed runs may explain. Too many runs next to
/// such a change were disturbed, and the others do not confirm it. Otherwise the quiet runs give
/// the change its size. Also notes what disturbed an odd newest run.
void judge_disturbances(Tracked& tracked, const DisturbancesOfRun& disturbances);

}  // namespace bench::results
