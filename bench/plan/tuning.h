#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/host/system_files.h"
#include "bench/plan/device.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/settings.h"
#include "bench/plan/tuning_cache.h"
#include "kernels/runtime/candidate_timer.h"

namespace bench {

/// The device and the versions of all that computes on it, as far as they decide which kernels are
/// the fastest.
TuningKey tuning_identity(const Device& device, const SystemFiles& files);

/// What timing may take on the device, and what it leaves to workspaces of a run whose executor is
/// planned so.
TimingMemory timing_memory(const MemoryLimits& limits, PlannedMemory planned);

struct TuningRequest {
  const RunSettings& settings;
  /// What will run.
  const Graph& graph;
  Backend& backend;
  KernelTimer& timer;
  const TuningCache& cache;
  TuningKey identity;
  MemoryLimits limits;
  /// Hears of each launch and may end the timing.
  Watch watch = {};
};

struct TuningResult {
  Choices choices;
  /// They were timed in an earlier run: nothing was timed now.
  bool kept = false;
  CandidateTimer::Counts counts = {};
  /// Sentences for the user.
  std::vector<std::string> notices = {};
};

/// The choices for a graph by time: those kept for this device and graph, or else those timed now,
/// which are then kept. What is kept for other versions, cannot be read, or does not fit into
/// memory any more is timed anew. Throws as Plan does, and what the watch throws.
TuningResult tune(const TuningRequest& request);

}  // namespace bench
