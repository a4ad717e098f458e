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

/// One repeat that is over.
struct RepeatOutcome {
  int status = 0;
  double images_per_second = 0;  ///< Of one whose status is 0.
};

/// Runs `run` for the repeats 0, 1, ... until they are as many as asked, until their interval is
/// narrow enough, until one fails, or until `interrupted`; `wait` comes between two. Prints the
/// table of the runs, their median and its interval; returns the status of the last.
int repeat(const RepeatSettings& settings, const std::function<RepeatOutcome(int repeat)>& run,
           const std::function<void()>& wait, const std::function<bool()>& interrupted,
           const RunStreams& streams);

/// What `repeat` prints of its runs; `looked` at between them, the interval is that of a look.
void print_repeats(std::ostream& out, std::span<const double> images_per_second, bool looked);

/// This program again and again with the same command line, each run in a process of its own.
int run_repeats(const RunSettings& settings, RunHost& host);

/// With files of its own where it is a repeat of its own command line.
RunSettings settings_of_repeat(RunSettings settings);

}  // namespace bench
