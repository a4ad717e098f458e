#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"
#include "bench/runs/run_host.h"

namespace bench {

/// A completed repeat.
struct RepeatOutcome {
  int status = 0;
  double speed = 0;  ///< Set if the status is 0.
  std::string unit = "images/sec";
  bool disturbed = false;  ///< By other programs, for example.
};

/// Calls `run` for the repeats 0, 1, ... until it has the requested number, their interval is
/// narrow enough, one fails, or `interrupted`. Calls `wait` between two repeats. Prints the table
/// of the runs, their median and its interval; returns the status of the last.
int repeat(const RepeatSettings& settings, const std::function<RepeatOutcome(int repeat)>& run,
           const std::function<void()>& wait, const std::function<bool()>& interrupted,
           const RunStreams& streams);

/// Repeats this program with the same command line, each run in a separate process. If the flags
/// let bench choose the batch, all later runs use the first one's.
int run_repeats(const RunSettings& settings, RunHost& host);

/// Uses separate files if the run is a repeat that its own command line started.
RunSettings settings_of_repeat(RunSettings settings);

}  // namespace bench
