#pragma once

#include <iosfwd>

#include "bench/flags/flags.h"
#include "bench/host/phase_watch.h"

namespace bench {

/// What --verify does: verifies the model, or every model, in training and (without --forward_only,
/// also) inference, prints one line for each. Returns the exit status: 1 when a number deviates too
/// much or a model could not be checked. `phases`, unless null, hears of the planning and the
/// kernels and may end the check there. Throws UsageError where the flags ask for another network
/// than the model's own, RunEnded.
int run_verification(const ParseResult& parsed, std::ostream& out, PhaseWatch* phases = nullptr);

}  // namespace bench
