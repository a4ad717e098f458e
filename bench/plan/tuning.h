#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/plan/device.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/settings.h"
#include "bench/plan/tuning_cache.h"
#include "kernels/runtime/candidate_timer.h"
#include "results/environment/system_files.h"

namespace bench {

/// Identifies the device and the versions of all software that affects which kernels are the
/// fastest.
TuningKey tuning_identity(const Device& device, const SystemFiles& files);

/// What the choices of a run depend on: its graph, its device (see tuning_identity) and its flags.
TuningKey tuning_key(const RunSettings& settings, const Graph& graph, TuningKey identity);

/// Why a run cannot use these choices, in a sentence; empty if it can. Plans the run.
std::string why_unusable(const RunSettings& settings, const Graph& graph, Backend& backend,
                         const MemoryLimits& limits, const Choices& choices);

/// The device memory that timing may use, and what a run with this plan leaves for workspaces.
TimingMemory timing_memory(const MemoryLimits& limits, PlannedMemory planned);

struct TuningRequest {
  const RunSettings& settings;
  /// The graph that will run.
  const Graph& graph;
  Backend& backend;
  KernelTimer& timer;
  const TuningCache& cache;
  TuningKey identity;
  MemoryLimits limits;
  /// Called for each launch; may end the timing.
  Watch watch = {};
};

struct TuningResult {
  Choices choices;
  /// How the choices were made; never `file` or `checkpoint`.
  ChosenBy by = ChosenBy::estimates;
  CandidateTimer::Counts counts = {};
  /// Sentences for the user.
  std::vector<std::string> notices = {};
};

/// Chooses kernels for a graph by time. Uses the stored choices for this device and graph, or times
/// them now and stores them. Times again if stored choices are for other versions, cannot be read,
/// or no longer fit into memory. Throws like Plan, and whatever the watch throws.
TuningResult tune(const TuningRequest& request);

}  // namespace bench
