#pragma once

#include <string>

#include "results/report/report_data.h"

namespace bench::results {

/// What a third party needs to do it again: per system hardware, software and settings with what
/// differed among its runs, and every run. Where `anonymize`, whatever names a host, a person, a
/// place or a path is left out.
std::string disclosure(const ReportData& data, bool anonymize);

/// Warnings and reasons that the records hold, per system and text, with how many runs have them.
std::string quality_table(const ReportData& data);

}  // namespace bench::results
