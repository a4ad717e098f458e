#pragma once

#include "results/record/record.h"

namespace bench::results {

/// Adds quality.score and quality.deductions: 100 less a deduction for each condition that makes a
/// number low or unsteady, at least 0. Unknown conditions deduct nothing.
/// bench/manual/COMPARE_AND_REPORT.md lists the deductions.
void add_quality_score(Record& record);

}  // namespace bench::results
