#pragma once

#include <string>

#include "results/report/cost.h"
#include "results/report/report_data.h"

/// The report's tables, each as HTML with its heading's text.
namespace bench::results {

/// Workloads by systems: median, interval, ratio to the reference.
std::string matrix_table(const ReportData& data);

/// Geometric means of the ratios, one row per system.
std::string means_table(const ReportData& data);

/// Images per joule; a sentence if no record has its energy.
std::string energy_table(const ReportData& data);

/// Images per unit of currency, with all inputs of the formula.
std::string cost_table(const ReportData& data, const CostModel& cost);

/// What limited each workload, and its arithmetic rate.
std::string bounds_table(const ReportData& data);

/// Efficiency by number of devices; empty if no workloads differ only in their number.
std::string scaling_table(const ReportData& data);

/// Published speeds.
std::string published_table();

}  // namespace bench::results
