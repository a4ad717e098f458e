#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/report/cost.h"
#include "results/report/report_data.h"

namespace bench::results {

struct PageOptions {
  std::string title = "CNN benchmark report";
  ReportOptions report{};
  std::vector<SystemPrice> prices{};  ///< From --cost; empty: those in the records.
};

/// The report as one HTML page that needs neither network nor scripts. Throws what report_data()
/// and add_prices() throw.
std::string report_page(std::span<const StoredRun> runs, const PageOptions& options);

}  // namespace bench::results
