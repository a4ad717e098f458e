#pragma once

#include <exception>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/runs/run.h"
#include "models/base/errors.h"

namespace bench {

/// Performs the measurement that a command line requests. This is one run, a run of each of several
/// batches, or a search for the batch and then its run. Returns the exit status: 0, 1 if a run
/// failed, 128 + signal after an interrupt. Throws UsageError, DataError, DeviceError and
/// WriteError.
int run_benchmark(const ParseResult& parsed, const std::vector<std::string>& command_line,
                  const RunStreams& streams);

/// Ends a process whose command line cannot be parsed. If it is one of several, all of them end,
/// and rank 0 prints the error. Returns the exit status. Throws `error` for a single process.
int refuse_command_line(const UsageError& error, std::ostream& err);

/// The exit status of a program that ends with this error.
int exit_status_of(const std::exception& error);

}  // namespace bench
