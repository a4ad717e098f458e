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

/// The run on one of the numbers of devices, once it is over.
struct ScaledRun {
  int devices = 0;
  ChildOutcome outcome = {};
};

/// One line per run: devices, images per second, efficiency against the first, and what took the
/// rest in per cent of the step (results/README.md, `scaling`).
void print_scaling(std::ostream& out, std::span<const ScaledRun> runs);

/// Runs each number of devices by `run`, which is told the reference, and prints the table at the
/// end. The first run must succeed for another to begin; a later one that fails (status 1) does not
/// keep the others from running; an interrupt does. Returns the last status that was not 0, or 0.
int scale(
    std::span<const int> counts,
    const std::function<ChildOutcome(int devices, int order, const std::string& reference)>& run,
    const std::function<bool()>& interrupted, const RunStreams& streams);

/// What --scaling_sweep=1,2,4 does, by the settings of its command line: refuses at once what any
/// of the runs would be refused for, says the memory that is planned for each, then runs them.
int run_scaling(const RunSettings& settings, const ParseResult& parsed, RunHost& host);

/// With files of its own where it is a run that --scaling_sweep started.
RunSettings settings_of_scaled(RunSettings settings);

}  // namespace bench
