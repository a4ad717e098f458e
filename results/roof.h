#pragma once

#include "results/record.h"

namespace bench::results {

/// Puts the roof into the record, and what follows from it into its metrics `roof_share`, `mfu`
/// and `bandwidth_share`, which results/README.md defines. `step_seconds` is the mean of the
/// measured steps without what they waited for input.
void add_roof(Record& record, const Roof& roof, double step_seconds);

}  // namespace bench::results
