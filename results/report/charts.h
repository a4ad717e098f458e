#pragma once

#include <string>

#include "results/report/report_data.h"

/// The report's drawings, each a <figure> whose text alternative says what it shows.
namespace bench::results {

/// Every run of every workload as a dot, with the median and its interval per system; a drawing per
/// workload.
std::string dot_plots(const ReportData& data);

/// Each workload's ratio to the reference with its interval; a drawing per system.
std::string forest_plots(const ReportData& data);

/// The geometric means of the systems; empty with a single system.
std::string mean_plot(const ReportData& data);

/// Efficiency by number of devices; empty if no workloads differ only in that number.
std::string scaling_plots(const ReportData& data);

}  // namespace bench::results
