#pragma once

#include <string>

#include "results/report/report_data.h"

/// The report's tables, each as HTML with its heading's text.
namespace bench::results {

/// Workloads by systems: speed, cost per million units, the best cells marked.
std::string matrix_table(const ReportData& data);

/// Workloads by systems: median, interval, ratio to the reference.
std::string intervals_table(const ReportData& data);

/// Geometric means of the ratios, one row per system.
std::string means_table(const ReportData& data);

/// True if some record has its energy.
bool has_energy(const ReportData& data);

/// Work per joule; a sentence if no record has its energy.
std::string energy_table(const ReportData& data);

/// What limited each workload, and its arithmetic rate.
std::string bounds_table(const ReportData& data);

/// Efficiency by number of devices; empty if no workloads differ only in their number.
std::string scaling_table(const ReportData& data);

/// Published speeds.
std::string published_table();

}  // namespace bench::results
