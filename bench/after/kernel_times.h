#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/host/clock.h"
#include "kernels/executor.h"
#include "variable_mgmt/towers.h"

namespace bench {

/// Where a step's time goes on one tower's device, by events around every kernel: in steps of their
/// own, since a step whose speed is measured has no events in it.
struct KernelTimes {
  std::int64_t steps = 0;
  /// Mean of a step: of the whole, input left out; of each step of the plan; of the update, 0
  /// without one. In seconds.
  double whole = 0;
  std::vector<double> kernels;
  double update = 0;
  /// The part of the update that was the meeting with other towers, waiting for them included;
  /// known where the device computes in the host's memory, else 0.
  double exchange = 0;
  /// The last step: when it began, by the host's clock, and what it did from then on.
  struct Last {
    std::chrono::steady_clock::time_point begun;
    std::vector<Executor::StepTime> kernels;
    /// Both 0 without an update.
    Executor::StepTime update;
    /// As above.
    std::chrono::nanoseconds exchange{};
  };
  Last last;
};

/// Runs up to ten more steps of every tower on the batch that was last fed, until three seconds
/// are over by the clock, but one at least; in a training run the variables are updated. All towers
/// run at the same time; they add gradients behind the backward pass, so that no kernel's time has
/// a part of that in it. `watch` hears of each step. Returns the times by the towers' numbers.
/// Waits.
std::vector<KernelTimes> time_kernels(Towers& towers, const Clock& clock, const Watch& watch = {});

}  // namespace bench
