#pragma once

#include <iosfwd>

#include "bench/plan/settings.h"
#include "kernels/backend.h"

namespace bench {

/// What each fusion saves: a table of the run's plan with all of them, and without one at a time.
/// Launches are those of a step but the optimizer's; bytes are what kernels have to read and write;
/// times are the backend's estimates, of a GPU those of its memory's and arithmetic's speed.
void print_fusion_gains(const RunSettings& settings, Backend& backend, std::ostream& out);

}  // namespace bench
