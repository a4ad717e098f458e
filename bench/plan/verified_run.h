#pragma once

#include <functional>
#include <string>

#include "bench/plan/settings.h"
#include "bench/verify/verification.h"

namespace bench {

/// Why the run differs from the one with the stored fingerprint; empty if it does not.
std::string difference_to_stored(const Workload& workload);

/// The stimulus that measures the fingerprint of a run.
FingerprintStimulus fingerprint_stimulus(const Workload& workload);

/// The verification of towers that were made by the settings. `graph` builds the graph of the first
/// tower for a number of images. `watch` is called for each kernel.
VerifiedRun verified_run(const RunSettings& settings, Towers& towers,
                         std::function<Graph(std::int64_t images)> graph, Watch watch = {});

}  // namespace bench
