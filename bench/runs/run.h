#pragma once

#include <cstdint>

#include "bench/loop/session.h"
#include "bench/plan/memory_check.h"
#include "bench/runs/prepare.h"
#include "bench/runs/run_host.h"

namespace bench {

/// The outcome of a run.
struct RunOutcome {
  /// 0; 1 for a loss that is not finite or a failed check of the network; 128 + signal after an
  /// interrupt.
  int status = 0;
  SessionResult session = {};
  SpeedUnit unit = {};
  /// Images or tokens per step of all devices.
  std::int64_t units_per_step = 0;
  PlannedMemory memory = {};
  Captured<std::int64_t> peak_rss = {};
};

/// Performs one run from its settings to the printed result and the record. It also writes the
/// record if the user or a closed stdout ends the run early. Throws UsageError, DataError,
/// DeviceError and WriteError.
RunOutcome run_once(const RunRequest& request, RunHost& host);

}  // namespace bench
