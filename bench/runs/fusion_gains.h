#pragma once

#include <iosfwd>

#include "bench/plan/settings.h"
#include "kernels/backend.h"

namespace bench {

/// Prints what each fusion saves: a table of the run's plan with all fusions, and without one at a
/// time. Steps, bytes, times and launches are those of StepForecast; launches only for devices that
/// have them. Times of a GPU come from the speed of its memory and arithmetic.
void print_fusion_gains(const RunSettings& settings, Backend& backend, std::ostream& out);

}  // namespace bench
