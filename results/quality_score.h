#pragma once

#include "results/record.h"

namespace bench::results {

/// Adds quality.score and quality.deductions: 100 less what results/README.md counts off for each
/// thing that makes a number low or unsteady, at least 0. What is not known counts nothing off.
void add_quality_score(Record& record);

}  // namespace bench::results
