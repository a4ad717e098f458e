#pragma once

#include <optional>
#include <span>
#include <string>

#include "results/report/cost.h"
#include "results/report/report_data.h"

namespace bench::results {

struct PageOptions {
  std::string title = "CNN benchmark report";
  ReportOptions report{};
  std::optional<CostModel> cost{};
};

/// The report as one HTML page that needs neither network nor scripts. Throws what report_data()
/// throws.
std::string report_page(std::span<const StoredRun> runs, const PageOptions& options);

}  // namespace bench::results
