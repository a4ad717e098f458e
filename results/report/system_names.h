#pragma once

#include <vector>

#include "results/report/report_data.h"

namespace bench::results {

/// Gives each system its `name` and `about`: the tag `system` of its runs where they agree on one,
/// else the machine's text without what all systems share, such as "2 threads, avx512". Where
/// `anonymize`, the host's name is in neither, and each name begins with "System A", "System B"...
void name_systems(std::vector<ReportSystem>& systems, bool anonymize);

}  // namespace bench::results
