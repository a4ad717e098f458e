#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "bench/runs/run.h"

namespace bench {

/// The run of one batch of a sweep.
struct SweptRun {
  std::int64_t batch = 0;
  RunOutcome outcome = {};
};

/// The settings of one of the runs: its batch, and files of its own (with_own_files).
RunSettings settings_of_run(const RunSettings& settings, std::int64_t batch);

/// One line per run: batch, images per second with the step lines' "+/-", median step time, planned
/// memory and largest resident set.
void print_sweep(std::ostream& out, std::span<const SweptRun> runs);

/// Runs each size by `run` and prints the table at the end, also when a run throws. A run that
/// fails (status 1) does not keep the others from running; an interrupt does. Returns the last
/// status that was not 0, or 0.
int sweep(std::span<const std::int64_t> sizes,
          const std::function<RunOutcome(std::int64_t batch)>& run,
          const std::function<bool()>& interrupted, const RunStreams& streams);

/// What --batch_size=8,16,32 does, by settings that were resolved from `parsed`: refuses at once
/// what any of the runs would be refused for, then runs them. Throws as run_once does.
int run_sweep(const RunSettings& settings, const ParseResult& parsed, RunHost& host);

}  // namespace bench
