#pragma once

#include <vector>

#include "results/report/report_data.h"

namespace bench::results {

/// Sets `name` and `about` of each system. The name is the tag `system` if the system's runs agree
/// on one. Otherwise it is the machine's text without what all systems share, such as "2 threads,
/// avx512". If `anonymize`, both omit the host's name, and names begin with "System A", "System
/// B"...
void name_systems(std::vector<ReportSystem>& systems, bool anonymize);

}  // namespace bench::results
