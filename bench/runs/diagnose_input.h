#pragma once

#include "bench/loop/session.h"
#include "bench/runs/prepare.h"
#include "bench/runs/run_host.h"

namespace bench {

/// After a successful run with --diagnose_input: measures the device alone, the input alone and the
/// storage, and prints the speeds and what limits the run. The towers train on. Waits. Throws what
/// the input and the devices throw, and RunEnded.
void diagnose_input(const RunSettings& settings, Prepared& prepared, const SessionResult& session,
                    RunHost& host);

}  // namespace bench
