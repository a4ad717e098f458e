#pragma once

#include "bench/flags/flags.h"
#include "bench/runs/run_host.h"

namespace bench {

/// What --verify does: verifies the model, or every model, in training and (without --forward_only,
/// also) inference, prints one line for each. Returns the exit status: 1 when a number deviates too
/// much or a model could not be checked. Throws UsageError where the flags ask for another network
/// than the model's own, RunEnded.
int run_verification(const ParseResult& parsed, RunHost& host);

}  // namespace bench
