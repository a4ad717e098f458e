#pragma once

#include <string>

#include "results/report/report_data.h"

namespace bench::results {

/// The first screen: what to buy, the fastest and the cheapest system, and how sure that is. Also
/// says if runs were disturbed.
std::string conclusion(const ReportData& data);

}  // namespace bench::results
