#pragma once

#include <iosfwd>

#include "bench/plan/settings.h"
#include "kernels/backend.h"

namespace bench {

/// What each fusion saves: a table of the run's plan with all of them, and without one at a time.
/// Steps, bytes, times and, of devices that have them, launches are those of StepForecast; times of
/// a GPU are those of its memory's and arithmetic's speed.
void print_fusion_gains(const RunSettings& settings, Backend& backend, std::ostream& out);

}  // namespace bench
