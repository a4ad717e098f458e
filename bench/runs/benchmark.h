#pragma once

#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/runs/run.h"

namespace bench {

/// Performs the measurement that a command line requests. This is one run, a run of each of several
/// batches, or a search for the batch and then its run. Returns the exit status: 0, 1 if a run
/// failed, 128 + signal after an interrupt. Throws UsageError, DataError, DeviceError and
/// WriteError.
int run_benchmark(const ParseResult& parsed, const std::vector<std::string>& command_line,
                  const RunStreams& streams);

}  // namespace bench
