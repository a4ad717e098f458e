#pragma once

#include <string>

#include "results/report/cost.h"
#include "results/report/report_data.h"

/// The report's tables, each as HTML with its heading's text.
namespace bench::results {

/// Works by systems: median, interval, ratio to the reference.
std::string matrix_table(const ReportData& data);

/// Geometric means of the ratios, one row per system.
std::string means_table(const ReportData& data);

/// Images per joule; a sentence where no record knows its energy.
std::string energy_table(const ReportData& data);

/// Images per unit of currency, with all that was put in.
std::string cost_table(const ReportData& data, const CostModel& cost);

/// What held each work back, and how much arithmetic was done.
std::string bounds_table(const ReportData& data);

/// Efficiency over devices; empty where no works differ in their number alone.
std::string scaling_table(const ReportData& data);

/// What others published.
std::string published_table();

}  // namespace bench::results
