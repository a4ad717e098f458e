#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"
#include "bench/runs/child_runs.h"

namespace bench {

/// A completed run on one of the numbers of devices.
struct ScaledRun {
  int devices = 0;
  ChildOutcome outcome = {};
};

/// Prints one line per run: devices, images per second, efficiency against the first, and the lost
/// time by part. The latter is in percent of the step (results/RECORD.md, `scaling`).
void print_scaling(std::ostream& out, std::span<const ScaledRun> runs);

/// Calls `run` with the reference for each number of devices, and prints the table at the end.
/// Other runs begin only if the first one succeeds. A later run that fails (status 1) does not stop
/// the others; an interrupt does. Returns the last status that was not 0, or 0.
int scale(
    std::span<const int> counts,
    const std::function<ChildOutcome(int devices, int order, const std::string& reference)>& run,
    const std::function<bool()>& interrupted, const RunStreams& streams);

/// Executes --scaling_sweep=1,2,4 with the settings of its command line. First refuses what any of
/// the runs would refuse, and prints the planned memory of each; then runs them.
int run_scaling(const RunSettings& settings, const ParseResult& parsed, RunHost& host);

/// Uses separate files if --scaling_sweep started this run.
RunSettings settings_of_scaled(RunSettings settings);

}  // namespace bench
