#pragma once

#include "results/track/tracking.h"

namespace bench::results {

/// Gives the verdict `disturbed` to changes that disturbed runs may explain. Too many runs next to
/// such a change were disturbed, and the others do not confirm it. Otherwise the quiet runs give
/// the change its size. Also notes what disturbed a suspect newest run.
void judge_disturbances(Tracked& tracked, const DisturbancesOfRun& disturbances);

}  // namespace bench::results
