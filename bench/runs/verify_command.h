#pragma once

#include "bench/flags/flags.h"
#include "bench/runs/run_host.h"

namespace bench {

/// Executes --verify: verifies the model, or every model, in training and (without --forward_only,
/// also) inference, and prints one line for each. Returns the exit status: 1 if a number deviates
/// too much or a model could not be checked. Throws UsageError if the flags request a network other
/// than the model's own, and RunEnded.
int run_verification(const ParseResult& parsed, RunHost& host);

}  // namespace bench
