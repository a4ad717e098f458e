#pragma once

#include <cstdint>

#include "bench/loop/session.h"
#include "bench/plan/memory_check.h"
#include "bench/runs/prepare.h"
#include "bench/runs/run_host.h"

namespace bench {

/// What came of a run.
struct RunOutcome {
  /// 0; 1 for a loss that is not finite or a network that computes something else; 128 + signal
  /// after an interrupt.
  int status = 0;
  SessionResult session = {};
  PlannedMemory memory = {};
  Captured<std::int64_t> peak_rss = {};
};

/// One run from its settings to the printed result and the record, which is also written when the
/// user or a closed standard output ends the run before. Throws UsageError, DataError, DeviceError
/// and WriteError.
RunOutcome run_once(const RunRequest& request, RunHost& host);

}  // namespace bench
