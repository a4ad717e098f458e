#pragma once

#include <cstdint>

#include "bench/loop/session.h"
#include "bench/runs/attempt.h"
#include "bench/runs/prepare.h"

namespace bench {

/// What came of the steps.
struct Measured {
  SessionResult session = {};
  InputStatistics input = {};
  Captured<std::int64_t> peak_rss = {};
  /// Has failed where a step did; `session` has those before it.
  Attempt attempt = {};
};

/// Runs and times the steps, and puts what was measured into the record. An end that was asked for
/// stands in the session.
Measured measure(Begun& begun, Prepared& prepared, RunHost& host);

}  // namespace bench
