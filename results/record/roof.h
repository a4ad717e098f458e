#pragma once

#include "results/record/record.h"

namespace bench::results {

/// Puts the roof into the record, and computes the metrics `roof_share`, `mfu` and
/// `bandwidth_share` from it (metrics.inc). `step_seconds` is the mean of the measured steps
/// without the time that they waited for input.
void add_roof(Record& record, const Roof& roof, double step_seconds);

}  // namespace bench::results
