#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "bench/runs/run.h"

namespace bench {

/// The run of one batch in a sweep.
struct SweptRun {
  std::int64_t batch = 0;
  RunOutcome outcome = {};
};

/// The settings of one of the runs, with its batch and separate files (with_own_files).
RunSettings settings_of_run(const RunSettings& settings, std::int64_t batch);

/// Prints one line per run: batch, images per second with the step lines' "+/-", median step time,
/// planned memory and largest resident set.
void print_sweep(std::ostream& out, std::span<const SweptRun> runs);

/// Calls `run` for each size and prints the table at the end, also if a run throws. A run that
/// fails (status 1) does not stop the others; an interrupt does. Returns the last status that was
/// not 0, or 0.
int sweep(std::span<const std::int64_t> sizes,
          const std::function<RunOutcome(std::int64_t batch)>& run,
          const std::function<bool()>& interrupted, const RunStreams& streams);

/// Executes --batch_size=8,16,32 with settings that were resolved from `parsed`. First refuses what
/// any of the runs would refuse, then runs them. Throws like run_once.
int run_sweep(const RunSettings& settings, const ParseResult& parsed, RunHost& host);

}  // namespace bench
