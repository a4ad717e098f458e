#pragma once

#include <cstdint>

#include "bench/loop/session.h"
#include "bench/runs/attempt.h"
#include "bench/runs/prepare.h"

namespace bench {

/// The outcome of the steps.
struct Measured {
  SessionResult session = {};
  InputStatistics input = {};
  Captured<std::int64_t> peak_rss = {};
  /// Failed if a step failed; `session` has the preceding steps.
  Attempt attempt = {};
};

/// Runs and times the steps, and adds the measurements to the record. If the user ended the run,
/// the session says so.
Measured measure(Begun& begun, Prepared& prepared, RunHost& host);

}  // namespace bench
