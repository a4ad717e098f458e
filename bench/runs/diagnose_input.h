#pragma once

#include "bench/runs/prepare.h"
#include "bench/runs/run_host.h"

namespace bench {

/// After a run: measures the input alone, both together, the device alone and the storage, and
/// prints the speeds and what limits the run. The towers train on. Waits. Throws what the input and
/// the devices throw, LossError, and RunEnded.
void diagnose_input(const RunSettings& settings, Prepared& prepared, RunHost& host);

}  // namespace bench
