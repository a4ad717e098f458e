#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/track/tracking.h"

namespace bench::results {

/// What disturbed the run with this id; empty if nothing is known.
using DisturbancesOfRun = std::function<std::vector<std::string>(const std::string& run_id)>;

/// Gives the verdict `disturbed` to changes that disturbed runs may explain. Too many runs next to
/// such a change were disturbed, and the others do not confirm it. Also notes what disturbed a
/// suspect newest run.
void judge_disturbances(Tracked& tracked, const DisturbancesOfRun& disturbances);

}  // namespace bench::results
