#pragma once

#include <string>

#include "results/report/report_data.h"

namespace bench::results {

/// What a third party needs to reproduce the report. It lists the hardware, software and settings
/// per system, the differences among its runs, and every run. If `anonymize`, omits everything that
/// names a host, a person, a place or a path.
std::string disclosure(const ReportData& data, bool anonymize);

/// Warnings and reasons in the records, per system and text, with the number of runs that have
/// them.
std::string quality_table(const ReportData& data);

}  // namespace bench::results
