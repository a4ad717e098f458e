#pragma once

#include <span>
#include <string>

#include "results/report/cost.h"
#include "results/report/report_data.h"

namespace bench::results {

/// Sets the price of each system that has one: from `given`, the file of --cost, else from the
/// system's records. Throws UsageError if an entry of `given` matches no system, or if records
/// contradict each other.
void add_prices(ReportData& data, std::span<const SystemPrice> given);

/// True if some system has a price.
bool has_prices(const ReportData& data);

/// Prices, the cost of an hour, and how it follows from them.
std::string prices_table(const ReportData& data);

}  // namespace bench::results
